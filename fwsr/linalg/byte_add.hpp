// ByteLoops::add for the instruction set of the file that includes this.
#pragma once

#include "fwsr/linalg/byte_table.hpp"

namespace fwsr {

namespace {

void add_body(const ByteRow& row, Index count, double* to) {
  const ByteRow r = row;
  for (Index j = 0; j < count; ++j)
    to[j] += r.square * ((static_cast<double>(r.sums[j]) - r.part[j]) + r.own) -
             (r.f * r.offset[j] + r.v * r.moved[j]);
}

}  // namespace

}  // namespace fwsr
