# SPDX-License-Identifier: BSD-2-Clause
# man.awk - man pages from the blocks of oriel.h: one page per call in the folder `dir`
#
# usage: awk -v dir=build/man/man3 -v version=0.1.0 -f include/man.awk include/oriel.h
#
# A block is a comment that begins with slash-star-star, whose first line is "name - what it does", followed by the declaration.
# Lines that follow "Example:" are C, indented by two spaces more than text.

# What roff would take for an escape.
function plain(text) {
	gsub(/\\/, "\\e", text)
	gsub(/-/, "\\-", text)
	return text
}

# Lines that are kept as they are.
function example(i) {
	printf ".SH EXAMPLE\n.nf\n.RS 4\n" > page
	for (i++; i < count; i++)
		print plain(substr(text[i], 3)) > page
	printf ".RE\n.fi\n" > page
}

function see(list, names, i, n) {
	n = split(list, names, " ")
	for (i = 1; i <= n; i++)
		if (names[i] != name "(3)")
			printf ".BR %s (%s),\n", substr(names[i], 1, length(names[i]) - 3), substr(names[i], length(names[i]) - 1, 1) > page
}

# The other calls of the family, and the pages that explain it.
function see_also() {
	print ".SH SEE ALSO" > page
	if (name ~ /win_(post|start|complete|wait|test)/)
		see("oriel_win_post(3) oriel_win_start(3) oriel_win_complete(3) oriel_win_wait(3) oriel_win_test(3)")
	if (name ~ /_(put|get)v?$|flush/)
		see("oriel_put(3) oriel_get(3) oriel_putv(3) oriel_getv(3) oriel_win_flush(3) oriel_win_flush_local(3)")
	if (name ~ /win_(create|allocate|free|query)/)
		see("oriel_win_create(3) oriel_win_allocate(3) oriel_win_free(3) oriel_win_query(3)")
	if (name ~ /_mem_/)
		see("oriel_mem_register(3) oriel_mem_deregister(3)")
	if (name ~ /_group_/)
		see("oriel_group_world(3) oriel_group_incl(3) oriel_group_free(3)")
	if (name ~ /init|finalize|abort/)
		see("oriel_init(3) oriel_finalize(3) oriel_environment(7) oriel_troubleshooting(7)")
	if (name ~ /win_(post|start|complete|wait|test|fence|flush)|_(put|get)/)
		see("oriel_epochs(7)")
	if (name ~ /win_(create|allocate|free|query)|_mem_|_(put|get)|usage/)
		see("oriel_windows(7)")
	see("oriel_last_error(3)")
	print ".BR oriel (7)" > page
}

function flush_paragraph() {
	if (paragraph != "") {
		if (match(paragraph, /^(Returns|Errors|Completion|Threads|Source): /)) {
			printf ".SH %s\n", toupper(substr(paragraph, 1, index(paragraph, ":") - 1)) > page
			paragraph = substr(paragraph, index(paragraph, ":") + 2)
		} else {
			print ".PP" > page
		}
		print plain(paragraph) > page
	}
	paragraph = ""
}

function begin_page(name, what) {
	page = dir "/" name ".3"
	printf ".TH %s 3 \"\" \"Oriel %s\" \"Oriel manual\"\n", toupper(name), version > page
	printf ".SH NAME\n%s \\- %s\n", name, what > page
}

/^\/\*\*$/ { inside = 1; first = 1; count = 0; next }

inside && /^ \*\/$/ { inside = 0; declaration = ""; declaring = 1; next }

inside {
	line = $0
	sub(/^ \* ?/, "", line)
	if (first) {
		first = 0
		split(line, parts, / - /)
		name = parts[1]
		what = parts[2]
		next
	}
	text[count++] = line
	next
}

declaring {
	declaration = declaration (declaration == "" ? "" : " ") $0
	if ($0 !~ /;$/)
		next
	declaring = 0
	gsub(/[ \t]+/, " ", declaration)
	begin_page(name, what)
	printf ".SH SYNOPSIS\n.nf\n#include <oriel.h>\n\n%s\n.fi\n.SH DESCRIPTION\n", declaration > page
	paragraph = ""
	for (i = 0; i < count && text[i] != "Example:"; i++) {
		if (text[i] == "" || text[i] ~ /^(Returns|Errors|Completion|Threads|Source): /)
			flush_paragraph()
		if (text[i] != "")
			paragraph = paragraph (paragraph == "" ? "" : " ") text[i]
	}
	flush_paragraph()
	if (i < count)
		example(i)
	see_also()
	close(page)
}
