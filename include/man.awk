# SPDX-License-Identifier: BSD-2-Clause
# man.awk - man pages from the blocks of oriel.h: one page per call in the folder `dir`
#
# usage: awk -v dir=build/man/man3 -v version=0.1.0 -f include/man.awk include/oriel.h
#
# A block is a comment that begins with slash-star-star, whose first line is "name - what it does", followed by the declaration.

function flush_paragraph() {
	if (paragraph != "") {
		if (match(paragraph, /^(Returns|Errors|Completion|Threads|Source): /)) {
			printf ".SH %s\n", toupper(substr(paragraph, 1, index(paragraph, ":") - 1)) > page
			paragraph = substr(paragraph, index(paragraph, ":") + 2)
		} else {
			print ".PP" > page
		}
		gsub(/\\/, "\\\\", paragraph)
		gsub(/-/, "\\-", paragraph)
		print paragraph > page
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
	for (i = 0; i < count; i++) {
		if (text[i] == "" || text[i] ~ /^(Returns|Errors|Completion|Threads|Source): /)
			flush_paragraph()
		if (text[i] != "")
			paragraph = paragraph (paragraph == "" ? "" : " ") text[i]
	}
	flush_paragraph()
	printf ".SH SEE ALSO\n.BR oriel_strerror (3),\n.BR oriel_last_error (3)\n" > page
	close(page)
}
