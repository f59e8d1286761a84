# SPDX-License-Identifier: BSD-2-Clause
# man.awk - man pages from the blocks of oriel.h: one page per call in the folder `dir`
#
# usage: awk -v dir=build/man/man3 -v version=0.1.0 -f include/man.awk include/man/oriel.7.md include/oriel.h
#
# A block is a comment that begins with slash-star-star, whose first line is "name - what it does", followed by the declaration.
# A section of it begins with its name and a colon, and can end with a list. An item of a list is a line that begins with two
# spaces and a tag; its text follows after two spaces or more, and its further lines are indented deeper. Lines that follow
# "Example:" are C, indented by two spaces more than text.

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

function fail(why) {
	print "man.awk: " why > "/dev/stderr"
	exit 1
}

# The other calls of the family, and the pages that explain it.
function see_also(family) {
	family = family_of[name]
	if (!(family in pages))
		fail("no table of oriel(7) that has pages here lists " name)
	print ".SH SEE ALSO" > page
	see(members[family] " " pages[family])
	if (family != "Errors")
		see("oriel_last_error(3)")
	print ".BR oriel (7)" > page
}

# Where each family of calls is explained; families are the tables of oriel(7).
BEGIN {
	pages["Job"] = "oriel_environment(7) oriel_troubleshooting(7)"
	pages["Groups"] = "oriel_epochs(7) oriel_mpi(7)"
	pages["Windows"] = "oriel_windows(7)"
	pages["Memory"] = "oriel_windows(7)"
	pages["Put and get"] = "oriel_epochs(7) oriel_windows(7)"
	pages["Accumulate"] = "oriel_epochs(7) oriel_mpi(7)"
	pages["Flush and requests"] = "oriel_epochs(7)"
	pages["Signals"] = "oriel_epochs(7)"
	pages["Epochs"] = "oriel_epochs(7) oriel_troubleshooting(7)"
	pages["Locks"] = "oriel_epochs(7) oriel_troubleshooting(7)"
	pages["Errors"] = "oriel_troubleshooting(7)"
}

FILENAME ~ /\.md$/ {
	if ($0 ~ /^## /)
		table = substr($0, 4)
	if (match($0, /^\| `oriel_[a-z_]+` /)) {
		call = substr($0, 4, RLENGTH - 5)
		family_of[call] = table
		members[table] = members[table] " " call "(3)"
	}
	next
}

# The sections of a block, with their headings.
BEGIN {
	heading["Arguments"] = "ARGUMENTS"
	heading["Completion"] = "COMPLETION"
	heading["Returns"] = "RETURN VALUE"
	heading["Errors"] = "ERRORS"
	heading["Threads"] = "THREADS"
	heading["MPI"] = "MPI EQUIVALENT"
	heading["Source"] = "SOURCE"
}

# The name of the section that begins with this line, or "".
function section_of(line, word) {
	word = substr(line, 1, index(line, ":") - 1)
	return word in heading ? word : ""
}

function begin_section(section) {
	printf ".SH %s\n", heading[section] > page
	had[section] = 1
}

# What the top of oriel.h says of all calls, in the place of sections that the block does not have.
function defaults(section) {
	if (section ~ /^(Errors|Threads|MPI|Source|end)$/ && !("Returns" in had)) {
		begin_section("Returns")
		print plain("0 on success, a negative ORIEL_ERR_* on failure; oriel_last_error(3) then returns the text.") > page
	}
	if (section ~ /^(MPI|Source|end)$/ && !("Threads" in had)) {
		begin_section("Threads")
		print "Several threads may make this call at once." > page
	}
}

function flush_paragraph() {
	if (paragraph != "")
		print plain(paragraph) > page
	paragraph = ""
}

# An item of a list: a tag, and the beginning of its text.
function item(line, tag) {
	sub(/^ +/, "", line)
	tag = line
	sub(/ .*/, "", tag)
	sub(/^[^ ]+ */, "", line)
	printf ".TP\n.B %s\n", plain(tag) > page
	paragraph = line
	in_list = 1
}

function text_line(line, section) {
	section = section_of(line)
	if (in_list && line ~ /^[^ ]/)
		ended = 1
	if (line == "" || section != "" || line ~ /^  [^ ]/ || ended)
		flush_paragraph()
	if (section != "") {
		defaults(section)
		begin_section(section)
		sub(/^[A-Za-z]+: */, "", line)
	} else if (line ~ /^  [^ ]/) {
		item(line)
		return
	} else if (line == "") {
		ended = 1
		return
	} else if (ended) {
		print ".PP" > page
	}
	if (line ~ /^[^ ]/)
		in_list = 0
	ended = 0
	sub(/^ +/, "", line)
	paragraph = paragraph (paragraph == "" ? "" : " ") line
}

# The declaration in lines of at most 72 columns, broken between arguments.
function synopsis(declaration, parts, count, line, k) {
	count = split(declaration, parts, ", ")
	line = parts[1]
	for (k = 2; k <= count; k++) {
		if (length(line) + length(parts[k]) > 69) {
			print line "," > page
			line = "        " parts[k]
		} else {
			line = line ", " parts[k]
		}
	}
	print line > page
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
	print ".SH SYNOPSIS\n.nf\n#include <oriel.h>\n" > page
	synopsis(declaration)
	print ".fi\n.SH DESCRIPTION" > page
	split("", had)
	ended = in_list = 0
	for (i = 1; i < count && text[i] != "Example:"; i++)
		text_line(text[i])
	flush_paragraph()
	defaults("end")
	if (i < count)
		example(i)
	see_also()
	close(page)
}
