# SPDX-License-Identifier: BSD-2-Clause
# man7.awk - a man page from one of include/man/*.7.md or *.1.md, on standard output
#
# usage: awk -v version=0.1.0 -f include/man7.awk include/man/oriel_epochs.7.md
#
# What it knows of Markdown: the title "# name(7) - what it is", sections (##) and subsections (###), paragraphs, lists of
# "- " items whose further lines are indented by two spaces, blocks between ``` lines, tables (a row becomes a paragraph; its
# first cell is the tag, its last one the text, and those between them stand before it, each with its head), `code`, **bold**,
# *italic*, [text](address), and pictures, which are left out. Anything else is text.

function fail(why) {
	printf "%s:%d: %s\n", FILENAME, FNR, why > "/dev/stderr"
	failed = 1
	exit 1
}

# What roff would take for a request or an escape.
function plain(text) {
	gsub(/\\/, "\\e", text)
	gsub(/-/, "\\-", text)
	gsub(/\^/, "\\(ha", text)
	gsub(/~/, "\\(ti", text)
	if (text ~ /^[.']/)
		text = "\\&" text
	return text
}

# The text before the next `mark` becomes of that font; `rest` is what follows it.
function in_font(text, mark, font, at) {
	at = index(text, mark)
	if (at == 0)
		fail("a " mark " that does not end")
	rest = substr(text, at + length(mark))
	return "\\f" font plain(substr(text, 1, at - 1)) "\\fR"
}

# Fonts and links; a mark inside code is code.
function inline(text, out, link, mark) {
	while (match(text, /`|\*\*|\*|\[[^]]*\]\([^)]*\)/)) {
		out = out plain(substr(text, 1, RSTART - 1))
		if (RLENGTH > 2) {
			split(substr(text, RSTART + 1, RLENGTH - 1), link, /\]\(/)
			text = substr(text, RSTART + RLENGTH)
			out = out "\\fB" plain(link[1]) "\\fR"
			continue
		}
		mark = substr(text, RSTART, RLENGTH)
		out = out in_font(substr(text, RSTART + RLENGTH), mark, mark == "*" ? "I" : "B")
		text = rest
	}
	out = out plain(text)
	return out ~ /^[.']/ ? "\\&" out : out
}

function flush_text() {
	if (text != "")
		print inline(text)
	text = ""
}

function begin(request) {
	flush_text()
	print request
}

FNR == 1 {
	if (!match($0, /^# [a-z_-]+\([17]\) - /))
		fail("the first line is not \"# name(7) - what it is\", or (1)")
	name = substr($0, 3, index($0, "(") - 3)
	section = substr($0, index($0, "(") + 1, 1)
	printf ".TH %s %s \"\" \"Oriel %s\" \"Oriel manual\"\n", plain(toupper(name)), section, version
	printf ".SH NAME\n%s \\- %s\n", name, inline(substr($0, RLENGTH + 1))
	next
}

/^```/ {
	inside = !inside
	if (inside)
		begin(".PP\n.RS 4\n.EX")
	else
		print ".EE\n.RE"
	after_block = 1
	next
}

inside {
	print plain($0)
	next
}

# The cell i of a row: a cell is what stands between two bars.
function cell(row, i, cells) {
	split(row, cells, / *\| */)
	return cells[i + 1]
}

function sentence(text) {
	return toupper(substr(text, 1, 1)) substr(text, 2)
}

function end_table() {
	if (table_rows == 1)
		fail("a table without |---| below its head")
	table_rows = 0
}

# The head, the line below it, and rows; a line that is empty ends the table, so none may stand inside.
function table_row(row, i, between) {
	if (++table_rows == 1) {
		head = row
		columns = gsub(/\|/, "|", row) - 1
		return
	}
	if (gsub(/\|/, "|", row) - 1 != columns)
		fail("a row of a table has not " columns " columns, as its head has")
	if (table_rows == 2) {
		if (row !~ /^\|(-+\|)+$/)
			fail("a table without |---| below its head")
		return
	}
	begin(".TP\n" inline(cell(row, 1)))
	for (i = 2; i < columns; i++)
		if (cell(row, i) != "")
			between = between sentence(cell(head, i)) ": " cell(row, i) ". "
	text = columns == 2 ? cell(row, 2) : between sentence(cell(row, columns))
	flush_text()
	pending = 0
}

!/^\|/ { end_table() }
/^!\[/ { next }
/^$/ { flush_text(); in_item = 0; pending = 1; next }
/^### / { begin(".SS " inline(substr($0, 5))); pending = 0; next }
/^## / { begin(".SH " inline(toupper(substr($0, 4)))); sections = 1; pending = 0; next }
/^- / { begin(".IP \\(bu 2"); text = substr($0, 3); in_item = 1; pending = 0; next }

/^\|/ { table_row($0); next }

{
	if (pending)
		begin(sections ? ".PP" : ".SH DESCRIPTION")
	pending = 0
	sections = 1
	sub(/^ +/, "")
	text = text (text == "" ? "" : " ") $0
}

END {
	if (!failed) {
		end_table()
		flush_text()
	}
}
