# SPDX-License-Identifier: BSD-2-Clause
# messages.awk - whether the messages that the manual quotes stand in the sources
#
# usage: cat SOURCES | awk -f tests/messages.awk - PAGES
# A quoted message is a line between "```message" and "```". It is found if it has all parts of a text of the sources, in
# their order; parts are what stands between numbers, names of calls, and what printf puts in, 20 characters at least.

# What may differ becomes "@".
function common(text) {
	gsub(/%%/, "%", text)
	gsub(/\\"/, "\"", text)
	gsub(/\\n/, "", text)
	gsub(/0x[0-9a-f]+|%[-0-9.*]*[a-z]+|-?[0-9]+(\.[0-9]+)*|oriel_[a-z_]+/, "@", text)
	gsub(/@+/, "@", text)
	sub(/^[@: ]+/, "", text)
	sub(/[@: ]+$/, "", text)
	return text
}

function keep(text) {
	text = common(text)
	gsub(/ *@ */, "@", text)
	if (length(text) - gsub(/@/, "@", text) >= 20)
		known[text] = 1
}

# Whether the quoted text has all parts of a known one.
function has_parts(quoted, text, parts, count, i, at) {
	count = split(text, parts, "@")
	for (i = 1; i <= count; i++) {
		at = index(quoted, parts[i])
		if (at == 0)
			return 0
		quoted = substr(quoted, at + length(parts[i]))
	}
	return 1
}

# Texts that follow each other are one, as in C.
FILENAME == "-" {
	line = $0
	while (match(line, /"([^"\\]|\\.)*"/)) {
		before = substr(line, 1, RSTART - 1)
		if (before !~ /^[ \t]*$/ || line == $0 && $0 !~ /^[ \t]*"/) {
			keep(collected)
			collected = ""
		}
		collected = collected substr(line, RSTART + 1, RLENGTH - 2)
		line = substr(line, RSTART + RLENGTH)
	}
	if (line !~ /^[ \t]*\\?$/) {
		keep(collected)
		collected = ""
	}
	next
}

/^```/ { quoting = $0 == "```message"; next }

quoting {
	text = $0
	found = 0
	for (known_text in known)
		if (has_parts(text, known_text))
			found = 1
	if (!found) {
		printf "%s:%d: no source says: %s\n", FILENAME, FNR, $0
		missing = 1
	}
}

END { exit missing }
