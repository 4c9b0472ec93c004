# Turns files into a C++ source: cmake -D "INPUT=file;file" -D OUTPUT=file.cpp -D NAME=name -P embed.cmake
# defines fwsr::name (the bytes of all files, end to end), fwsr::name_size and fwsr::name_sha256 (hexadecimal).
set(bytes "")
set(whole "${OUTPUT}.whole")
file(WRITE "${whole}" "")
foreach(input ${INPUT})
  file(READ "${input}" part HEX)
  string(APPEND bytes "${part}")
endforeach()
list(LENGTH INPUT count)
if(count EQUAL 1)
  file(SHA256 "${INPUT}" sum)
else()
  execute_process(COMMAND ${CMAKE_COMMAND} -E cat ${INPUT} OUTPUT_FILE "${whole}" COMMAND_ERROR_IS_FATAL ANY)
  file(SHA256 "${whole}" sum)
endif()
file(REMOVE "${whole}")
string(REGEX REPLACE "([0-9a-f][0-9a-f])" "0x\\1," bytes "${bytes}")
string(REGEX REPLACE "(................................................................................)"
  "\\1\n" bytes "${bytes}")
file(WRITE "${OUTPUT}" "#include <cstddef>

namespace fwsr {

extern const unsigned char ${NAME}[];
extern const std::size_t ${NAME}_size;
extern const char ${NAME}_sha256[];
const unsigned char ${NAME}[] = {
${bytes}};
const std::size_t ${NAME}_size = sizeof ${NAME};
const char ${NAME}_sha256[] = \"${sum}\";

}  // namespace fwsr
")
