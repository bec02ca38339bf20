#!/bin/sh
# rules.sh FOLDER COMPILE LINK SOURCE…: write FOLDER/rules.mk, one rule per object with what the last
# compilation found it to depend on, and print its name. Called by the Makefile whenever it is read.
set -eu
folder=$1 compile=$2 link=$3
shift 3

mkdir -p "$folder/engines" "$folder/guest"
new=$folder/rules.mk.$$
trap 'rm -f "$new"' EXIT

# Another compiler or other flags make other objects.
printf '%s\n%s\n' "$compile" "$link" >"$new"
cmp -s "$new" "$folder/flags" || mv "$new" "$folder/flags"

{
	printf 'OBJECTS ='
	for source; do
		printf ' %s/%s.o' "$folder" "${source%.c}"
	done
	printf '\n'
	for source; do
		object=$folder/${source%.c}.o
		printf '%s: ../%s %s/flags\n\t@echo "  CC  %s"\n\t@$(COMPILE) -c -o $@ ../%s\n' \
			"$object" "$source" "$folder" "$source" "$source"
		[ ! -f "${object%.o}.d" ] || cat "${object%.o}.d"
	done
} >"$new"
mv "$new" "$folder/rules.mk"
echo "$folder/rules.mk"
