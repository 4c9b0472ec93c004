#!/usr/bin/env bash
# Installs a build to a fresh prefix and builds the consumer from it, by CMake and by pkg-config, both without OpenMP.
# With the page, also every program on it. Also: every installed header compiles, and what must not compile does not.
# usage: install_test.sh BUILD_FOLDER CONSUMER_FOLDER PAGE.md
set -euo pipefail
build=$1
consumer=$2
page=$3
place=$(mktemp -d)
trap 'rm -rf "$place"' EXIT

cmake --install "$build" --prefix "$place/prefix" >/dev/null
cmake -S "$consumer" -B "$place/build" -G Ninja -D CMAKE_BUILD_TYPE=Release \
  -D CMAKE_PREFIX_PATH="$place/prefix" >/dev/null
cmake --build "$place/build" >/dev/null
"$place/build/consumer"

PKG_CONFIG_PATH=$(dirname "$(find "$place/prefix" -name fwsr.pc)")
export PKG_CONFIG_PATH
version=$(pkg-config --modversion fwsr)
read -ra flags <<<"-std=c++20 -O1 -Wall -Wextra -Wconversion -Werror $(pkg-config --cflags fwsr)"
case " ${flags[*]} " in *openmp*) echo "the .pc file asks for OpenMP: ${flags[*]}" >&2; exit 1 ;; esac
for source in main no_eigen; do
  "${CXX:-c++}" "${flags[@]}" -D FOUND_VERSION="\"$version\"" -c "$consumer/$source.cpp" -o "$place/$source.o"
done
for static in "" --static; do
  # shellcheck disable=SC2046,SC2086
  "${CXX:-c++}" "$place/main.o" "$place/no_eigen.o" -o "$place/by_pc" $(pkg-config --libs $static fwsr)
  LD_LIBRARY_PATH=$(pkg-config --variable=libdir fwsr) "$place/by_pc"
done

# Last to first, so that none lives on what another one included.
(cd "$place/prefix/include" && find fwsr -name '*.hpp' | sort -r | sed 's/.*/#include <&>/') >"$place/headers.cpp"
"${CXX:-c++}" "${flags[@]}" -fsyntax-only "$place/headers.cpp"

refused=$consumer/refused.cpp
"${CXX:-c++}" "${flags[@]}" -fsyntax-only -D CASE=0 "$refused"
cases=$(sed -n 's|^#.*if CASE == \([0-9]*\)  // refused: \(.*\)|\1 \2|p' "$refused")
[ "$(wc -l <<<"$cases")" -ge 7 ]
while read -r number words; do
  if "${CXX:-c++}" "${flags[@]}" -fsyntax-only -D CASE="$number" "$refused" 2>"$place/words"; then
    echo "case $number of refused.cpp compiles, and must not" >&2
    exit 1
  fi
  grep -q "$words" "$place/words" || { cat "$place/words"; echo "case $number does not say: $words" >&2; exit 1; }
done <<<"$cases"

mkdir "$place/page"
python3 "$consumer/blocks.py" "$page" "$place/page"
for block in "$place"/page/*.cpp; do
  # shellcheck disable=SC2046
  "${CXX:-c++}" "${flags[@]}" "$block" -o "${block%.cpp}" $(pkg-config --libs fwsr)
  LD_LIBRARY_PATH=$(pkg-config --variable=libdir fwsr) "${block%.cpp}"
done

[ "$("$place/prefix/bin/fwsr" --version | head -n 1)" = "fwsr $version" ]
"$place/prefix/bin/fwsr" select digits -k 3 --quiet >"$place/picks.csv"
[ "$(wc -l <"$place/picks.csv")" -eq 4 ]
echo "installed tree: consumer by CMake, consumer by pkg-config, the programs of $(basename "$page") and program work"
