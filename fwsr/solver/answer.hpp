// What a shard of any kind says to a question in bytes (transport.hpp, messages.hpp).
#pragma once

#include <span>
#include <string>

#include "fwsr/base/archive.hpp"
#include "fwsr/base/result.hpp"
#include "fwsr/linalg/blas.hpp"
#include "fwsr/solver/messages.hpp"

namespace fwsr {

inline Bytes went_wrong(Outcome outcome, std::string what) {
  BytesWriter writer;
  writer(outcome, what);
  return writer.take();
}

/// Never throws: what went wrong is part of the answer.
template <class Shard>
Bytes answer_in_bytes(Shard& shard, std::span<const std::byte> question) noexcept {
  try {
    try {
      const SerialBlas serial;  // as where all points are in one place: part of the answer
      BytesReader reader(question);
      std::int32_t number = -1;
      reader(number);
      BytesWriter writer;
      const bool known = Questions::with(number, [&]<class Question>() {
        Question own{};
        reader(own);
        auto reply = shard.answer(own);
        Outcome outcome = Outcome::answered;
        writer(outcome, reply);
      });
      if (!known || !reader.at_end())
        return went_wrong(Outcome::error,
                          "a question that is not known here: the parts of the "
                          "points run different programs");
      return writer.take();
    } catch (const Interrupted&) {
      return went_wrong(Outcome::interrupted, {});
    } catch (const MemoryError& e) {
      return went_wrong(Outcome::memory_error, e.what());
    } catch (const std::exception& e) {
      return went_wrong(Outcome::error, e.what());
    }
  } catch (...) {  // not even memory to say so
    return {};
  }
}

}  // namespace fwsr
