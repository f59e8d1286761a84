#!/bin/bash
# SPDX-License-Identifier: BSD-2-Clause
# verdicts.sh - the conformance suite, compared with the table verdicts.md: on softverbs, or on SoftRoCE, from the same binaries
#
# usage: tests/soft/verdicts.sh soft|rxe, from the top of the tree, after `make tests`; rxe in the machine of tests/vm/run. Each case
# counts once: "not ok" if its verdict is another than the table's, if the table does not know it, or if the table's verdicts
# differ and it does not say why. A case that the table has and no program is not ok either. The kernel says which of SoftRoCE's
# columns is asked: that of Linux 6.12 from this release on, that of Linux 6.1 before. The last line is
# "conform_soft: N passed, N failed, N skipped", or conform_rxe. `tests/soft/verdicts.sh --table` prints the table as it would be
# now, with the reasons there are.
set -u
cd "$(dirname "$0")/../.." || exit 1
programs="conform_verbs conform_errors conform_ext conform_cm conform_stock conform_cm_ud conform_ud conform_ud_errors conform_uc"
table=tests/soft/verdicts.md
limit_s=$((300 * ${TESTS_SLOWNESS:-1}))
out=$(mktemp -d) || exit 1
trap 'rm -rf "$out"' EXIT

# "name|verdict" of every case, from the programs' lines.
cases() { sed -nE 's/^(passed|failed|unsupported) +([a-z ]+: .*[^ ])   *[^ ].*$/\2|\1/p' "$@" | sed -E 's/ +\|/|/'; }

# The table's "name|verdict|softverbs|Linux 6.1|Linux 6.12|why", with the verdict of the column that is asked.
expected() { # soft, 6.1 or 6.12
	sed -nE 's/^\| *([^|]*: [^|]*[^| ]) *\| *([a-z]+) *\| *([a-z]+) *\| *([a-z]+) *\| *(.*[^ ])? *\|$/\1|\2|\3|\4|\5/p' $table |
		awk -F'|' -v OFS='|' -v asked="$1" '{ print $1, asked == "soft" ? $2 : asked == "6.1" ? $3 : $4, $2, $3, $4, $5 }'
}

# The column of a kernel's SoftRoCE.
column_of() { # release
	[ "$(printf '6.12\n%s\n' "$1" | sort -V | head -n 1)" = 6.12 ] && echo 6.12 || echo 6.1
}

# A program's lines. Its status is 1 where a case has failed; another one is a case that has failed too.
ask() { # soft or rxe, program
	local status
	if [ "$1" = soft ]; then
		LD_LIBRARY_PATH=build/lib/soft timeout "$limit_s" build/tests/soft/"$2"
	else
		timeout "$limit_s" build/tests/soft/"$2"
	fi 2>"$out/$2.why"
	status=$?
	[ $status -le 1 ] || echo "failed  program: $2  status $status"
}

is_as_expected() { # program
	[ -z "$(cases "$out/$1" | sort | comm -23 - <(cut -d'|' -f1,2 "$out/expected" | sort))" ]
}

# All programs beside each other: what they do most is wait for a device to give up. SoftRoCE, the
# reference, in a machine that has had to wait, is asked again.
ask_all() { # soft or rxe
	local program
	for program in $programs; do
		ask "$1" "$program" >"$out/$program" &
	done
	wait
	for program in $programs; do
		[ "$1" = soft ] || is_as_expected "$program" || ask "$1" "$program" >"$out/$program"
	done
}

if [ "${1-}" = --all ]; then
	column=soft
	[ "$2" = soft ] || column=$(column_of "$(uname -r)")
	expected "$column" >"$out/expected"
	ask_all "$2"
	for program in $programs; do cat "$out/$program"; done
	exit
fi
if [ "${1-}" = --table ]; then
	"$0" --all soft >"$out/soft"
	tests/vm/run --vm -- "$0" --all rxe >"$out/rxe"
	expected soft >"$out/expected"
	column=$(column_of "$(cat build/vm/kernel/release)")
	cases "$out/soft" | while IFS='|' read -r name soft; do
		rxe=$(cases "$out/rxe" | awk -F'|' -v name="$name" '$1 == name { print $2; exit }')
		echo "| $name | $soft | $(awk -F'|' -v OFS=' | ' -v name="$name" -v column="$column" -v rxe="$rxe" '$1 == name {
			print column == "6.1" ? rxe : $4, column == "6.12" ? rxe : $5, $6
		}' "$out/expected") |"
	done
	exit
fi

device=${1:?usage: tests/soft/verdicts.sh soft|rxe}
[ "$device" = rxe ] && column=$(column_of "$(uname -r)") || column=soft
expected "$column" >"$out/expected"
ask_all "$device"
[ "$device" = rxe ] && alone='tests/vm/run --vm -- ' || alone='env LD_LIBRARY_PATH=build/lib/soft '
# "program|name|verdict" of every case, beside the table's lines: in one program, since each takes long to start in emulation.
for program in $programs; do cases "$out/$program" | sed "s/^/$program|/"; done | awk -F'|' -v alone="$alone" -v table=$table -v device="$device" '
	function bad(name, why, program) {
		print "not ok " name ": " why
		if (program == "")
			print "# alone: tests/suite conform_" device
		else if (name ~ /^program: /)
			print "# alone: " alone "build/tests/soft/" program
		else
			print "# alone: " alone "build/tests/soft/" program " \"" substr(name, index(name, ": ") + 2) "\""
		failed++
	}
	NR == FNR { verdict[$1] = $2; differ[$1] = ($3 != $4 || $3 != $5); why[$1] = $6; next }
	{
		seen[$2] = 1
		if (!($2 in verdict))
			bad($2, $2 ~ /^program: / ? "it did not end by itself" : "it is not in " table " (" $3 ")", $1)
		else if ($3 != verdict[$2])
			bad($2, $3 "; the table says " verdict[$2], $1)
		else if (differ[$2] && why[$2] == "")
			bad($2, "the verdicts of the table differ and it does not say why", $1)
		else {
			print "ok " $2 ": " $3
			passed++
		}
	}
	END {
		for (name in verdict)
			if (!(name in seen))
				bad(name, "the table has it, no program does", "")
		print "conform_" device ": " passed + 0 " passed, " failed + 0 " failed, 0 skipped"
		exit failed > 0
	}' "$out/expected" - >"$out/lines"
status=$?
[ $status -eq 0 ] || sed 's/^/# /' "$out"/*.why
cat "$out/lines"
exit $status
