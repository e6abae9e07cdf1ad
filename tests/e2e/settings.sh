#!/bin/bash
# SPDX-License-Identifier: Apache-2.0
# The user's settings: options in config.json have the same effect as on the command line, which takes precedence.
. "$(dirname "$0")/../support/claims.sh"

# run CODE COMMAND...: the exit code must be CODE; output goes to run.log.
run() {
	local want=$1 code=0
	shift
	"$@" >run.log 2>&1 || code=$?
	[ "$code" = "$want" ] || { cat run.log; fail "exit code $code, expected $want, of: $*"; }
}

says() {
	grep -qF -- "$1" run.log || { cat run.log; fail "no message contains '$1'"; }
}

no_word_of() {
	! grep -qF -- "$1" run.log || fail "a message contains '$1'"
}

# settings TEXT: writes the user's config.json
settings() {
	printf '%s' "$1" >config/cpprof/config.json
	chmod 600 config/cpprof/config.json
}

mkdir -p config/cpprof
export XDG_CONFIG_HOME=$PWD/config
"$MAKE_PROFILE" sample small.data || fail "cannot make a profile"

run 0 "$CPPROF" report --no-pager small.data # no settings
cp run.log plain.log
settings '{}'
if ! "$CPPROF" report --no-pager small.data >run.log 2>&1 && grep -q 'built without cJSON' run.log; then
	run 1 "$CPPROF" report small.data
	says "cpprof report --no-config"
	run 0 "$CPPROF" report --no-pager --no-config small.data
	cmp run.log plain.log || fail "--no-config reads the settings"
	exit 0
fi
run 0 "$CPPROF" report --no-pager small.data
cmp run.log plain.log || fail "empty settings change the output"

settings '{ "report": { "view": "flat" }, "inspect": { "cfg": {} } }'
run 0 "$CPPROF" report --no-pager small.data
cp run.log flat.log
cmp -s plain.log flat.log && fail "the settings have no effect"
run 0 "$CPPROF" report --no-pager --no-config --view flat small.data
cmp run.log flat.log || fail "the setting and the option have different effects"
run 0 "$CPPROF" report --no-pager --view summary small.data
cmp run.log plain.log || fail "the command line does not take precedence"
run 0 "$CPPROF" report --no-pager --no-config small.data
cmp run.log plain.log || fail "--no-config reads the settings"
run 0 "$CPPROF" check small.data
no_word_of config

# Errors are reported, with a suggestion; --help works all the same.
settings '{ "reprot": {} }'
run 2 "$CPPROF" check small.data
says 'unknown command "reprot"; did you mean "report"?'
says "cpprof check --no-config"
settings '{ "report": { "veiw": "flat" } }'
run 2 "$CPPROF" report small.data
says "unknown option of 'report' \"veiw\"; did you mean \"view\"?"
settings '{ "report": { "view": "flatt" } }'
run 2 "$CPPROF" report small.data
says '"view" takes one of'
settings '{ "report": { "view": "flat", } }'
run 2 "$CPPROF" report small.data
says "line 1, column"
run 0 "$CPPROF" report --help
says "--no-config"
settings '{ "inspect": { "cgf": {} } }'
run 2 "$CPPROF" inspect cfg /bin/true
says 'unknown command "cgf"; did you mean "cfg"?'
head -c 70000 /dev/zero | tr '\0' ' ' >config/cpprof/config.json
run 1 "$CPPROF" check small.data
says "it is larger than 65536 bytes"

# Mutually exclusive options: one on the command line disables the other in the settings.
settings '{ "record": { "frequency": 499 } }'
run 2 "$CPPROF" record -c 1000
says "give a command to run"
settings '{ "record": { "frequency": 499, "count": 1000 } }'
run 2 "$CPPROF" record -- true
says "cannot be used together"

# Settings that other users may write are ignored.
settings '{ "report": { "view": "flat" } }'
chmod o+w config/cpprof/config.json
run 0 "$CPPROF" report --no-pager small.data
says "others may write to it"
grep -vF "ignoring the settings" run.log | cmp - plain.log || fail "settings that other users may write are used"
