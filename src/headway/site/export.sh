#!/bin/sh
# Writes what a simulation of this Slurm site needs into one archive: jobs, accounts, QOS, nodes, partitions, events,
# reservations, shares and parameters. It only asks (sacct, squeue, sacctmgr, scontrol, sshare, sdiag) and changes nothing.
#
#   sh export.sh 2024-01-01 2025-01-01               names as they are
#   sh export.sh --anonymous 2024-01-01 2025-01-01   users, accounts and reservations renamed here and now
#
# Then, at home: headway site import CLUSTER-site.tar.gz DIR
set -eu
umask 077
anonymous=no
if [ "${1-}" = --anonymous ]; then anonymous=yes; shift; fi
if [ $# -lt 2 ]; then sed -n '2,8s/^# \{0,1\}//p' "$0"; exit 2; fi
since=$1 until=$2

export SLURM_TIME_FORMAT=%s SLURM_BITSTR_LEN=0 LC_ALL=C
cluster=$(scontrol show config | awk '$1 == "ClusterName" { print $3; exit }')
work=$(mktemp -d)
trap 'rm -rf "$work"' EXIT
mkdir "$work/site"
target=$PWD/$cluster-site.tar.gz
cd "$work/site"

# The submit line tells nodes, memory and partitions as they were asked for; it may name anything, so not when renaming.
columns=@COLUMNS@
[ "$anonymous" = no ] || columns=${columns%,SubmitLine}
jobs() {
    sacct --allusers --allocations --duplicates --parsable2 --starttime "$since" --endtime "$until" \
        --format "$columns" "$@"
}
echo "jobs from $since to $until" >&2
jobs > jobs.txt
# Given dates, sacct leaves out jobs that were never eligible, as Slurm has it also of those that were held while they ran;
# by their state it finds them, and those that still wait by their numbers, a thousand at a time.
jobs --state BF,CA,CD,DL,F,NF,OOM,PR,R,S,TO > "$work/states"
awk -F '|' 'NR == 1 { for (i = 1; i <= NF; i++) if ($i == "Eligible") at = i } $at !~ /^[0-9]/' "$work/states" > "$work/more"
squeue --all --noheader --states=PENDING --format=%A 2> /dev/null | sort -u | xargs -n 1000 | tr ' ' ',' > "$work/waiting"
while read -r numbers; do
    [ -z "$numbers" ] || jobs --jobs "$numbers" >> "$work/more"
done < "$work/waiting"
awk 'NR == FNR { seen[$0]; next } !($0 in seen) { seen[$0]; print }' jobs.txt "$work/more" > "$work/new"
cat "$work/new" >> jobs.txt

echo "accounts, QOS, events, reservations, shares" >&2
sacctmgr --parsable2 show associations where cluster="$cluster" format=@ASSOCIATIONS@ > associations.txt
sacctmgr --parsable2 show qos format=@QOS@ > qos.txt
sacctmgr --parsable2 show events all_clusters where cluster="$cluster" start="$since" end="$until" \
    format=Cluster,NodeName,Start,End,State > events.txt
sacctmgr --parsable2 show reservation where cluster="$cluster" start="$since" end="$until" \
    format=Cluster,ID,Name,Start,End,NodeNames,Flags,TRES > reservations.txt
sshare --all --long --parsable2 > shares.txt

echo "parameters, partitions, nodes" >&2
scontrol show config > config.txt
scontrol show partition > partitions.txt
scontrol show node > nodes.txt
sdiag > sdiag.txt || rm -f sdiag.txt
if grep -qi '^TopologyPlugin *= *topology/tree' config.txt; then scontrol show topology > topology.conf; fi
# Since 25.05 a topology.yaml beside slurm.conf counts in the place of TopologyPlugin, and nothing else shows it.
network=$(dirname "$(sed -n 's/^SLURM_CONF *= *//p' config.txt)")/topology.yaml
if [ -r "$network" ]; then cp "$network" topology.yaml; fi
# Who is in the groups that partitions allow, those of whom one is the first group among them.
allowed=$(tr ' ' '\n' < partitions.txt | sed -n 's/^AllowGroups=//p' | tr ',' '\n' | sort -u | grep -v '^ALL$' || true)
for group in $allowed; do
    getent group "$group" | while IFS=: read -r name _ number users; do
        first=$(getent passwd | awk -F: -v number="$number" '$4 == number { printf ",%s", $1 }')
        echo "$name:x:$number:$users$first" >> groups.txt
    done
done

if [ "$anonymous" = yes ]; then
    # Tables: the columns that hold names get others, the same everywhere. The list of names stays here.
    for file in jobs.txt associations.txt shares.txt events.txt reservations.txt; do
        awk -F '|' -v OFS='|' -v list="$work/names" '
            function other(kind, name,    indent, key) {
                indent = name; sub(/[^ ].*/, "", indent); sub(/^ */, "", name)
                if (name == "" || name == "root") return indent name
                key = kind SUBSEP name
                if (!(key in names)) { names[key] = kind (++count[kind]); print kind, name, names[key] >> list }
                return indent names[key]
            }
            BEGIN { while ((getline line < list) > 0) { split(line, part, "|")
                        names[part[1] SUBSEP part[2]] = part[3]; count[part[1]]++ } close(list) }
            FNR == 1 { for (i = 1; i <= NF; i++) { kinds[i] = ""
                           if ($i == "User") kinds[i] = "user"
                           if ($i == "Account" || $i == "ParentName" || $i == "Par Name") kinds[i] = "account"
                           if ($i == "Reservation" || (FILENAME ~ /reservations/ && $i == "Name")) kinds[i] = "resv" } }
            FNR > 1 { for (i = 1; i <= NF; i++) if (kinds[i] != "") $i = other(kinds[i], $i) }
            { print }' "$file" > "$work/renamed"
        mv "$work/renamed" "$file"
    done
    # Parameters: only those that decide a schedule. Blocks: no reasons, owners, comments, addresses; groups are opened.
    grep -iE '^ *(@PARAMETERS@) ' config.txt > "$work/renamed"
    mv "$work/renamed" config.txt
    awk -v list="$work/names" '
        BEGIN { while ((getline line < list) > 0) { split(line, part, "|"); names[part[1] "=" part[2]] = part[3] } }
        { for (i = 1; i <= NF; i++) {
              if ($i ~ /^AllowGroups=/) $i = "AllowGroups=ALL"
              if ($i ~ /^(Allow|Deny)Accounts=/ && $i !~ /=ALL$/) {
                  split($i, pair, "="); n = split(pair[2], old, ","); text = ""
                  for (j = 1; j <= n; j++) if (("account=" old[j]) in names) text = text "," names["account=" old[j]]
                  $i = pair[1] "=" substr(text, 2) } }
          print }' partitions.txt > "$work/renamed"
    mv "$work/renamed" partitions.txt
    grep -vE '^ *(OS|Reason|Comment|Extra|Owner|NodeAddr|BootTime|LastBusyTime)=' nodes.txt > "$work/renamed"
    mv "$work/renamed" nodes.txt
    rm -f sdiag.txt groups.txt
fi

tar -C "$work" -czf "$target" site
echo "written: $target" >&2
