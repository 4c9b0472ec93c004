# Turns a file into a C++ source: cmake -D INPUT=file -D OUTPUT=file.cpp -D NAME=name -P embed.cmake
# defines fwsr::name (the bytes) and fwsr::name_size.
file(READ "${INPUT}" bytes HEX)
string(REGEX REPLACE "([0-9a-f][0-9a-f])" "0x\\1," bytes "${bytes}")
string(REGEX REPLACE "(................................................................................)"
  "\\1\n" bytes "${bytes}")
file(WRITE "${OUTPUT}" "#include <cstddef>

namespace fwsr {

extern const unsigned char ${NAME}[];
extern const std::size_t ${NAME}_size;
const unsigned char ${NAME}[] = {
${bytes}};
const std::size_t ${NAME}_size = sizeof ${NAME};

}  // namespace fwsr
")
