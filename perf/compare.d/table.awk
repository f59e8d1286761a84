# SPDX-License-Identifier: BSD-2-Clause
# table.awk - the table for people, of what table.jq says
$1 == "head" { print $2; next }
$1 == "tail" { print ""; print $2; next }
!header++ {
	print ""
	printf "%-50s %8s  %-9s %9s %-5s %9s %-14s %6s  %-18s %8s  %s\n", "figure", "bytes", "side", "median", "", "against", "", "ratio",
		"lowest to highest", "bar", "verdict"
}
{ printf "%-50s %8s  %-9s %9s %-5s %9s %-14s %6s  %-18s %8s  %s\n", $2, $3, $4, $5, $6, $8, $7, $9, $10, $11, $12 }
