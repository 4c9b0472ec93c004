#!/usr/bin/env bash
# Installs a build to a fresh prefix and builds the consumer from it, by CMake and by pkg-config.
# With the page, also every program on it.
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
"${CXX:-c++}" -std=c++20 -O1 -fopenmp -I"$(pkg-config --variable=includedir fwsr)" \
  -D FOUND_VERSION="\"$version\"" -c "$consumer/main.cpp" -o "$place/main.o"
for static in "" --static; do
  # shellcheck disable=SC2046,SC2086
  "${CXX:-c++}" "$place/main.o" -o "$place/by_pc" $(pkg-config --libs $static fwsr)
  LD_LIBRARY_PATH=$(pkg-config --variable=libdir fwsr) "$place/by_pc"
done

mkdir "$place/page"
python3 "$consumer/blocks.py" "$page" "$place/page"
for block in "$place"/page/*.cpp; do
  # shellcheck disable=SC2046
  "${CXX:-c++}" -std=c++20 -O1 -fopenmp -Wall -Wextra -Werror -I"$(pkg-config --variable=includedir fwsr)" "$block" \
    -o "${block%.cpp}" $(pkg-config --libs fwsr)
  LD_LIBRARY_PATH=$(pkg-config --variable=libdir fwsr) "${block%.cpp}"
done

[ "$("$place/prefix/bin/fwsr" --version | head -n 1)" = "fwsr $version" ]
"$place/prefix/bin/fwsr" select digits -k 3 --quiet >"$place/picks.csv"
[ "$(wc -l <"$place/picks.csv")" -eq 4 ]
echo "installed tree: consumer by CMake, consumer by pkg-config, the programs of $(basename "$page") and program work"
