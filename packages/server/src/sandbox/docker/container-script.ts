/** Where the commands of a container leave what they say: a file system in memory, gone with the container. */
export const SPOOL = "/run/cognition";

/**
 * What runs beside a command in its container, for any image with a shell and dd, wc, tee, tail, head, ls, sleep, setsid
 * and env. It is the command's supervisor: it starts it, keeps its output, stops it in time and sweeps up after it, whether
 * or not the server still lives.
 *
 * A command's processes are known by a limit on file locks, which the kernel has ignored for twenty years but still hands
 * down: a process can lower its own but never raise it. One without such a limit is ours. One with a limit that no
 * running command has is a leftover, whatever session, group or parent it has given itself.
 *
 * Standard output is the command's; what the server is told goes to standard error, one line each.
 */
export const CONTAINER_SCRIPT = `
spool=${SPOOL}
action=$1 d=$spool/$2 forkless=
shift 2

mark_of() {
  mark=
  while read -r a b c value rest; do
    if [ "$a $b $c" = "Max file locks" ]; then mark=$value; break; fi
  done 2>/dev/null < "$1/limits"
}

sweep() {
  round=0 rounds=\${1:-60}
  while [ $round -lt $rounds ]; do
    keep=' ' left=0
    for f in $spool/*/mark; do
      if [ -e "$f" ] && [ ! -e "\${f%mark}stopping" ]; then read -r m < "$f" && keep="$keep$m "; fi
    done
    for p in /proc/[0-9]*; do
      mark_of "$p"
      case $mark in '' | unlimited) continue ;; esac
      case $keep in *" $mark "*) continue ;; esac
      kill -KILL "\${p#/proc/}" 2>/dev/null && left=1
    done
    [ $left = 0 ] && return 0
    round=$((round + 1))
    [ "$forkless" ] || sleep 0.02
  done
  return 1
}

stop() {
  : > "$d/stopping"
  if read -r pid 2>/dev/null < "$d/pid"; then
    kill -TERM "-$pid" 2>/dev/null
    tries=0
    while [ $tries -lt 12 ] && kill -0 "$pid" 2>/dev/null; do sleep 0.02; tries=$((tries + 1)); done
  fi
  sweep
}

abort() {
  left=0
  if [ ! -d "$d" ]; then tell_left; return; fi
  stop
  left=$?
  tries=0
  while [ ! -s "$d/end" ] && [ $tries -lt 25 ]; do sleep 0.02; tries=$((tries + 1)); done
  rm -rf "$d"
  tell_left
}

kill_all() {
  forkless=1
  : > "$d/stopping"
  sweep 2000
  left=$?
  tell_left
}

tell_left() { echo "{\\"type\\":\\"stopped\\",\\"left\\":$left}" >&2; }

watch() {
  sleep "$1" & sleeping=$!
  trap 'kill $sleeping; exit' TERM
  wait $sleeping
  : > "$d/timed_out"
  stop
}

execute() {
  (
    ulimit -w "$mark" 2>/dev/null || ulimit -x "$mark" || exit 125
    exec setsid env "$@"
  ) <&3 3<&- 2>&1 &
  pid=$!
  echo $pid > "$d/pid"
  watch "$timeout" < /dev/null > /dev/null 2>&1 3<&- & watcher=$!
  wait $pid
  code=$?
  kill $watcher 2>/dev/null
  wait $watcher
  : > "$d/stopping"
  sweep
  echo "$code $?" > "$d/code"
}

copy() {
  left=$limit
  while [ $left -gt 0 ]; do
    dd bs=$left count=1 2>/dev/null | tee -a "$d/out"
    size=$(wc -c < "$d/out")
    [ "\${size:-0}" -gt $((limit - left)) ] || break
    left=$((limit - size))
  done
  dropped=$(wc -c)
  echo $dropped > "$d/dropped"
}

finish() {
  code=137 swept=0 dropped=0 timed_out=false
  [ -s "$d/code" ] && read -r code swept < "$d/code"
  [ -s "$d/dropped" ] && read -r dropped < "$d/dropped"
  [ -e "$d/timed_out" ] && timed_out=true
  echo "$code $swept $timed_out $dropped" > "$d/end"
}

tell_end() {
  [ -s "$d/end" ] && read -r code swept timed_out dropped < "$d/end"
  echo "{\\"type\\":\\"end\\",\\"exit_code\\":$code,\\"left\\":$swept,\\"timed_out\\":$timed_out,\\"dropped\\":$((dropped))}" >&2
}

forget() {
  for each in "$@"; do rm -rf "$spool/$each"; done
}

run() {
  mark=$1 timeout=$2 limit=$3 keep_end=$4 about=$5
  forget $6
  shift 6
  kept=0
  for old in $(ls -t $spool); do
    kept=$((kept + 1))
    [ $kept -gt 64 ] && [ -e "$spool/$old/end" ] && rm -rf "$spool/$old"
  done
  if ! mkdir "$d" 2>/dev/null; then echo '{"type":"taken"}' >&2; exit; fi
  echo '{"type":"begun"}' >&2
  echo "$about" > "$d/about"
  echo $$ > "$d/supervisor"
  : > "$d/out"
  echo "$mark" > "$d/mark"
  exec 3<&0
  execute "$@" | copy
  finish
  tell_end
  [ "$keep_end" = yes ] || rm -rf "$d"
}

attach() {
  if ! read -r about 2>/dev/null < "$d/about"; then echo '{"type":"none"}' >&2; exit; fi
  echo "{\\"type\\":\\"about\\",\\"about\\":$about}" >&2
  sent=$1
  while :; do
    ended=
    if [ -s "$d/end" ]; then ended=1
    elif read -r supervisor < "$d/supervisor" && ! kill -0 "$supervisor" 2>/dev/null && [ ! -s "$d/end" ]; then
      echo '{"type":"lost"}' >&2
      exit
    fi
    size=$(wc -c < "$d/out")
    if [ $size -gt $sent ]; then
      tail -c +$((sent + 1)) "$d/out" | head -c $((size - sent))
      sent=$size
    fi
    if [ "$ended" ]; then tell_end; exit; fi
    sleep 0.1
  done
}

list() {
  for f in $spool/*/about; do
    [ -e "$f" ] || continue
    running=true
    [ -e "\${f%about}end" ] && running=false
    read -r about < "$f"
    echo "{\\"type\\":\\"command\\",\\"running\\":$running,\\"about\\":$about}" >&2
  done
}

case $action in
  run) run "$@" ;;
  attach) attach "$@" ;;
  abort) abort ;;
  kill) kill_all ;;
  forget) forget "$@" ;;
  list) list ;;
esac
`;

/** The container's first process: it adopts what lost its parent, and waits for it, or the dead would fill the limit. */
export const FIRST_PROCESS = "trap 'exit 0' TERM INT; while :; do sleep 2147483 & wait $!; done";
