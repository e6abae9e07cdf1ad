#!/usr/bin/env bash
# SPDX-License-Identifier: Apache-2.0
#
# Files that are not profiles are rejected with what they are; pipes are read like files; endless streams do not hang cpprof.
. "$(dirname "$0")/lib.sh"

"$CPPROF" import -q --symfs "$data/root-aarch64" "$data/dwarf.data" -o good || fail "cannot make a profile"

# says CODE TEXT COMMAND...: the command exits with CODE within the time limit and prints a message that contains TEXT.
says() {
	local want=$1 text=$2 code=0
	shift 2
	timeout 60 "$@" >said.log 2>&1 || code=$?
	[ "$code" = "$want" ] || fail "exit code $code, not $want, of: $*"
	[ -z "$text" ] || grep -qF -- "$text" said.log || fail "no message says '$text': $*"
}

mkdir folder
: >empty
echo words >words
# tells FILE TEXT: every command that reads a profile prints TEXT.
tells() {
	says 1 "$2" "$CPPROF" report "$1"
	says 1 "$2" "$CPPROF" check "$1"
	says 1 "$2" "$CPPROF" resolve "$1"
	says 1 "$2" "$CPPROF" annotate "$1" main
	says 1 "$2" "$CPPROF" export -o out.json "$1"
	says 1 "$2" "$CPPROF" merge -o merged "$1"
}
tells folder "cannot read profile 'folder': Is a directory"
tells empty "'empty' is not a cpprof profile: it is empty"
tells words "'words' is not a cpprof profile: its first bytes are not those of a profile"
tells missing "cannot open profile 'missing': No such file"
tells cpprof.data "try: cpprof record -- COMMAND"
tells "$BASH" "it is a program or a library"
tells "$data/dwarf.data" "try: cpprof import $data/dwarf.data"
for name in export.json export.html export.svg export.pb.gz; do
	"$CPPROF" export good -o $name || fail "cannot export"
	says 1 "this is an export; give the profile it came from" "$CPPROF" report $name
done
head -c 1000 good >cut
tells cut "profile 'cut' is corrupt"

# A profile in place of a function's name; invalid rules.
cp good cpprof.data
says 1 "try: cpprof annotate good FUNCTION" "$CPPROF" annotate good
says 2 "give the name of a function" "$CPPROF" annotate good ""
for command in annotate report resolve; do
	says 2 "--source-map takes OLD=NEW, not '=/new'" "$CPPROF" $command --source-map =/new good
done

# No control characters reach the terminal.
says 1 "cannot open profile 'a?[31mb': No such file" "$CPPROF" report $'a\e[31mb'
if command -v cc >/dev/null && command -v objcopy >/dev/null; then
	echo 'int f(void) { return 1; } int main(void) { return f(); }' | cc -O0 -x c -c - -o evil.o
	objcopy --redefine-sym f=$'e\e[31mvil' evil.o
	cc evil.o -o evil
	for command in "inspect functions" "inspect recipes" "inspect cfg" struct; do
		"$CPPROF" $command evil >names.log 2>&1
		grep -q 'e?\[31mvil' names.log || fail "$command does not show the function"
		! grep -q $'\e' names.log || fail "$command prints control characters of a name"
	done
fi

# Standard input is called so in messages, and "-" in suggested commands.
says 1 "'standard input' is not a cpprof profile: it is empty" bash -c '"$CPPROF" report - </dev/null'
says 1 "try: cpprof import -" bash -c "\"\$CPPROF\" report - <'$data/dwarf.data'"
says 1 "cannot write profile 'standard output': No space" bash -c '"$CPPROF" resolve - <good >/dev/full'

# Endless streams.
says 1 "'/dev/zero' is not a cpprof profile" "$CPPROF" report /dev/zero
says 1 "'standard input' is not a cpprof profile" bash -c 'yes | "$CPPROF" check -'

# Exports on standard input: from a pipe, which can be read only once, and from a file.
says 0 "" "$CPPROF" export good -o good.json
says 0 "" "$CPPROF" export good -o good.json.gz
for file in good good.json good.json.gz; do
	says 0 "-: OK: " bash -c "cat $file | \"\$CPPROF\" check -"
	says 0 "-: OK: " bash -c "\"\$CPPROF\" check - <$file"
done
says 1 "" bash -c 'head -c 1000 good.json | "$CPPROF" check -'
says 1 "'standard input' is not a cpprof profile" bash -c 'printf x | "$CPPROF" check -'

# A named pipe.
mkfifo pipe
for command in report check export; do
	case $command in
	export) arguments="-f folded -o -" ;;
	*) arguments= ;;
	esac
	cat good >pipe &
	says 0 "" "$CPPROF" $command $arguments pipe
	wait $! || fail "$command did not read all of a pipe"
done
says 2 "'pipe' is not a regular file and cannot be replaced; give -o FILE" "$CPPROF" resolve pipe
cat good >pipe &
says 0 "" "$CPPROF" resolve -q pipe -o resolved
says 0 ": OK: " "$CPPROF" check resolved
exit 0
