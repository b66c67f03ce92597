#!/usr/bin/env bash
# Sweeps a fleet, for pipelines, in a clone of your repository with all of its history:
#
#   deploy/ci/fleet.sh PROCFIT [FLAG…]
#
# PROCFIT is the program, and the flags are more flags of procfit fleet. The results of
# earlier runs are on the branch RESULTS of the remote, from which the script takes them and
# to which it adds the new ones, without the output of your programs (logs). If procfit
# proposes changes, the script pushes the branch BRANCH, unless somebody has pushed to it
# in the meantime. The exit code is that of procfit fleet, or 3 if a command such as git
# push fails. Variables, with their defaults:
#
#   FILE=fleet.yaml  BRANCH=procfit/fleet  RESULTS=procfit-results  REMOTE=origin
#   LINK=              where readers find the files of the branch RESULTS
#   PUSH_OPTIONS=      options for the push of BRANCH, one a line
set -euo pipefail
[ $# -ge 1 ] || { sed -n '2,15s/^# \{0,1\}//p' "$0"; exit 2; }
procfit=$1 && shift
branch=${BRANCH:-procfit/fleet} results=${RESULTS:-procfit-results} remote=${REMOTE:-origin} out=results/fleet
export GIT_AUTHOR_NAME=${GIT_AUTHOR_NAME:-procfit} GIT_AUTHOR_EMAIL=${GIT_AUTHOR_EMAIL:-procfit@localhost}
export GIT_COMMITTER_NAME=${GIT_COMMITTER_NAME:-$GIT_AUTHOR_NAME} GIT_COMMITTER_EMAIL=${GIT_COMMITTER_EMAIL:-$GIT_AUTHOR_EMAIL}
trap 'exit 3' ERR # most commands fail with 1, which means that something is to change
top=$(git rev-parse --show-toplevel)
cd "$top"
mkdir -p "$out"

# What is on the remote. A branch that somebody has added to is not replaced: procfit looks.
heads=$(git ls-remote --heads "$remote")
commit_of() { while IFS=$'\t' read -r id ref; do [ "$ref" != "refs/heads/$1" ] || printf %s "$id"; done <<<"$heads"; }
earlier=$(commit_of "$results") proposal=$(commit_of "$branch")
if [ -n "$earlier" ]; then
	git fetch --quiet "$remote" "+refs/heads/$results:refs/procfit/results"
	earlier=$(git rev-parse refs/procfit/results)
	git archive "$earlier" | tar -x -C "$out"
fi
rm -f "$out"/{fleet.json,report.html,RESULTS.md} # of the last run
if [ -n "$proposal" ]; then git fetch --quiet "$remote" "+refs/heads/$branch:refs/heads/$branch"; fi

status=0
"$procfit" fleet --out "$out" --propose="$branch" ${LINK:+--link "$LINK"} "$@" "${FILE:-fleet.yaml}" || status=$?
case $status in 0 | 1 | 3) ;; *) exit "$status" ;; esac
[ -f "$out/fleet.json" ] || exit "$status" # nothing was measured

# The results become a commit of their own branch, by an index of their own.
index=$(mktemp -d)
trap 'rm -rf "$index"' EXIT
kept() { GIT_INDEX_FILE=$index/index git -C "$out" --git-dir="$repository" --work-tree=. "$@"; }
repository=$(git rev-parse --absolute-git-dir)
kept add --all --force -- . ':(exclude,glob)*/*/*/logs/**' # SERVICE/MACHINE/COMMIT/logs
tree=$(kept write-tree)
if [ -z "$earlier" ] || [ "$tree" != "$(git rev-parse "$earlier^{tree}")" ]; then
	commit=$(git commit-tree "$tree" ${earlier:+-p "$earlier"} -m "Results of $(git rev-parse --short HEAD)")
	git push --quiet "$remote" "$commit:refs/heads/$results"
fi

if grep -qs '"branch": ' "$out/fleet.json"; then
	options=()
	while IFS= read -r option; do [ -z "$option" ] || options+=(--push-option "$option"); done <<<"${PUSH_OPTIONS:-}"
	git push --quiet --force-with-lease="refs/heads/$branch:$proposal" "${options[@]}" "$remote" "refs/heads/$branch"
fi
exit "$status"
