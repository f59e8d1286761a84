#!/bin/bash
# SPDX-License-Identifier: BSD-2-Clause
# verdicts.sh - the conformance suite on softverbs and on SoftRoCE, from the same binaries, compared with verdicts.md
#
# usage: tests/soft/verdicts.sh, from the top of the tree, after `make tests`; `tests/soft/verdicts.sh --table` prints
# the table as it would be now, with the reasons there are. Each case counts once: "not ok" if a verdict is another than
# the table's, if the table does not know it, or if the two differ and the table does not say why. A case that the table
# has and no program is not ok either. The last line is "soft_rxe: N passed, N failed, N skipped".
set -u
cd "$(dirname "$0")/../.." || exit 1
programs="conform_verbs conform_errors conform_ext conform_cm conform_stock conform_cm_ud conform_ud conform_ud_errors conform_uc"
table=tests/soft/verdicts.md
out=$(mktemp -d) || exit 1
trap 'rm -rf "$out"' EXIT

# "name|verdict" of every case, from the programs' lines.
cases() { sed -nE 's/^(passed|failed|unsupported) +([a-z ]+: .*[^ ])   *[^ ].*$/\2|\1/p' "$1" | sed -E 's/ +\|/|/'; }

for program in $programs; do
	LD_LIBRARY_PATH=build/lib/soft timeout 300 build/tests/soft/$program
done >"$out/soft" 2>"$out/soft.why"
cases "$out/soft" | sort >"$out/soft.cases"
# "name|softverbs|SoftRoCE|why" of the table.
sed -nE 's/^\| *([^|]*: [^|]*[^| ]) *\| *([a-z]+) *\| *([a-z]+) *\| *(.*[^ ])? *\|$/\1|\2|\3|\4/p' $table >"$out/table"

# What SoftRoCE says: "name|verdict", sorted, into $out/rxe.cases; all that the programs say is in $out/rxe.
ask_rxe() {
	# shellcheck disable=SC2016
	tests/vm/run --vm --timeout 600 -- sh -c 'for program in '"$programs"'; do build/tests/soft/$program 2>&1; done; true' \
		>"$out/rxe" 2>"$out/rxe.why" || tail -n 5 "$out/rxe.why"
	cases "$out/rxe" | sort >"$out/rxe.cases"
}
rxe_as_in_table() {
	! awk -F'|' '{ print $1 "|" $3 }' "$out/table" | sort | comm -23 - "$out/rxe.cases" | grep -q .
}
# It is the reference, and the kernel's: what it fails once, in an emulated machine that has had to wait, it is asked again.
ask_rxe
rxe_as_in_table || [ "${1:-}" = --table ] || { grep -B 3 '^failed' "$out/rxe" | sed 's/^/# SoftRoCE: /'; ask_rxe; }
join -t'|' -a1 -a2 -e missing -o 0,1.2,2.2 "$out/soft.cases" "$out/rxe.cases" >"$out/now"

if [ "${1:-}" = --table ]; then
	# In the order of the programs.
	while IFS='|' read -r name _; do
		grep -F "$name|" "$out/now" | head -n 1
	done < <(cases "$out/soft") | while IFS='|' read -r name soft rxe; do
		why=$(awk -F'|' -v name="$name" '$1 == name { print $4 }' "$out/table")
		echo "| $name | $soft | $rxe | $why |"
	done
	exit
fi

passed=0 failed=0
bad() {
	echo "not ok $1: $2"
	failed=$((failed + 1))
}
while IFS='|' read -r name soft rxe; do
	line=$(awk -F'|' -v name="$name" '$1 == name' "$out/table")
	IFS='|' read -r _ soft_then rxe_then why <<<"$line"
	if [ -z "$line" ]; then
		bad "$name" "it is not in $table (softverbs $soft, SoftRoCE $rxe)"
	elif [ "$soft" != "$soft_then" ] || [ "$rxe" != "$rxe_then" ]; then
		bad "$name" "softverbs $soft, SoftRoCE $rxe; the table says $soft_then, $rxe_then"
	elif [ "$soft" != "$rxe" ] && [ -z "$why" ]; then
		bad "$name" "the two differ and the table does not say why"
	else
		echo "ok $name: $soft, $rxe"
		passed=$((passed + 1))
	fi
done <"$out/now"
while IFS='|' read -r name _; do
	grep -qF "$name|" "$out/now" || bad "$name" "the table has it, no program does"
done <"$out/table"
[ $failed -eq 0 ] || cat "$out/soft.why"
echo "soft_rxe: $passed passed, $failed failed, 0 skipped"
[ $failed -eq 0 ]
