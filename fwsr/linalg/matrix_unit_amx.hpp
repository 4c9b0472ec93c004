// matrix_unit.hpp on plain pointers: matrix_unit_amx.cpp is compiled for that unit and includes nothing whose inline functions could be linked into everything else.
#pragma once

#include <cstdint>

#include "fwsr/base/index.hpp"

namespace fwsr::amx {

constexpr Index pieces = 3;       // bf16 numbers to a float32 number
constexpr Index side = 16;        // rows of a tile; a row has 16 words
constexpr Index depth = 32;       // numbers of a row of a tile, two to a word
constexpr Index words = 256;      // of a tile
constexpr Index square = 32;      // side of the four tiles that are added to at once
constexpr Index form_rows = 192;  // rows of a product with a triangle

static inline Index squares(Index d) {
  return (d + square - 1) / square;
}
/// Panels of `depth` points that are packed at once: as many as stay in the second-level cache.
static inline Index panels(Index d) {
  const Index fit = 100 / squares(d);
  return fit < 1 ? 1 : fit > 32 ? 32 : fit;
}
/// Words that the functions below need or write. None of these functions is shared between files: those
/// of matrix_unit_amx.cpp may hold instructions that only some processors have.
static inline Index gram_words(Index d) {
  const Index n = squares(d);
  return n * (n + 1) / 2 * 4 * words + panels(d) * 2 * n * 2 * pieces * words;
}
static inline Index triangle_words(Index d) {
  const Index n = squares(d);
  return n * (n + 1) / 2 * 2 * pieces * words;
}
static inline Index form_words(Index d) {
  return form_rows / side * squares(d) * pieces * words + form_rows * side;
}

#if defined(__x86_64__)
void gram(const float* a, Index count, Index d, float* product, std::uint32_t* room);
void pack_triangle(const float* u, Index d, std::uint32_t* out);
/// @pre count <= form_rows
void forms(const float* a, Index count, Index d, const std::uint32_t* triangle, double* out,
           std::uint32_t* room);
#endif

}  // namespace fwsr::amx
