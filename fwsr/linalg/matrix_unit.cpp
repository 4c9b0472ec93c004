#include "fwsr/linalg/matrix_unit.hpp"

#include <algorithm>
#include <atomic>

#include "fwsr/linalg/matrix_unit_amx.hpp"
#include "fwsr/linalg/processor.hpp"

namespace fwsr {

namespace {

std::atomic<bool> allowed{true};

}  // namespace

bool has_matrix_unit() {
  static const bool here = instructions() == Instructions::amx;
  return here && allowed;
}
void allow_matrix_unit(bool yes) {
  allowed = yes;
}

Index unit_gram_bytes(Index d) {
  return 4 * amx::gram_words(d);
}
Index unit_triangle_bytes(Index d) {
  return 4 * amx::triangle_words(d);
}
Index unit_form_bytes(Index d) {
  return 4 * amx::form_words(d);
}

#if defined(__x86_64__)

namespace {

std::uint32_t* ready(UnitRoom& room, Index words) {
  if (static_cast<Index>(room.size()) < words) room.resize(static_cast<std::size_t>(words));
  return room.data();
}

}  // namespace

void gram_on_unit(const float* a, Index count, Index d, float* product, UnitRoom& room) {
  amx::gram(a, count, d, product, ready(room, amx::gram_words(d)));
}

UnitRoom pack_triangle(const float* u, Index d) {
  UnitRoom packed(static_cast<std::size_t>(amx::triangle_words(d)));
  amx::pack_triangle(u, d, packed.data());
  return packed;
}

void forms_on_unit(const float* a, Index count, Index d, const UnitRoom& triangle, double* forms,
                   UnitRoom& room) {
  std::uint32_t* const words = ready(room, amx::form_words(d));
  for (Index first = 0; first < count; first += amx::form_rows)
    amx::forms(a + first * d, std::min(amx::form_rows, count - first), d, triangle.data(),
               forms + first, words);
}

#else

void gram_on_unit(const float*, Index, Index, float*, UnitRoom&) {}
UnitRoom pack_triangle(const float*, Index) {
  return {};
}
void forms_on_unit(const float*, Index, Index, const UnitRoom&, double*, UnitRoom&) {}

#endif

}  // namespace fwsr
