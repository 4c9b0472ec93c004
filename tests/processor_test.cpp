// Which instructions are used, and what FWSR_CPU may say.
#include "fwsr/linalg/processor.hpp"

#include <gtest/gtest.h>

#include <string>

#include "fwsr/linalg/matrix_unit.hpp"

namespace {

using fwsr::Instructions;

constexpr Instructions levels[] = {Instructions::baseline, Instructions::avx2, Instructions::avx512,
                                   Instructions::amx};

TEST(Processor, all_that_is_there_is_used_when_nobody_says_otherwise) {
  for (const Instructions there : levels)
    for (const char* nothing : {static_cast<const char*>(nullptr), ""}) {
      const auto chosen = fwsr::choose_instructions(nothing, there);
      ASSERT_TRUE(chosen);
      EXPECT_EQ(*chosen, there);
    }
}

TEST(Processor, a_level_is_used_where_it_is_there_and_refused_where_it_is_not) {
  for (const Instructions there : levels)
    for (const Instructions wanted : levels) {
      const auto chosen = fwsr::choose_instructions(fwsr::name_of(wanted), there);
      ASSERT_EQ(chosen.has_value(), wanted <= there);
      if (chosen)
        EXPECT_EQ(*chosen, wanted);
      else
        EXPECT_EQ(chosen.error().message, std::string("FWSR_CPU is ") + fwsr::name_of(wanted) +
                                              ", but this processor has " + fwsr::name_of(there) +
                                              " at most; choose that or less, or unset it");
    }
}

TEST(Processor, a_word_that_is_no_level_is_refused_with_those_there_are) {
  for (const char* word : {"AVX2", "avx", "avx2 ", "sse", "512", "max"}) {
    const auto chosen = fwsr::choose_instructions(word, Instructions::amx);
    ASSERT_FALSE(chosen) << word;
    EXPECT_NE(chosen.error().message.find(std::string("'") + word + "'"), std::string::npos);
    for (const Instructions level : levels)
      EXPECT_NE(chosen.error().message.find(fwsr::name_of(level)), std::string::npos);
  }
}

TEST(Processor, no_more_is_used_than_there_is) {
  EXPECT_LE(fwsr::instructions(), fwsr::available_instructions());
  EXPECT_EQ(fwsr::has_matrix_unit(), fwsr::instructions() == Instructions::amx);
}

}  // namespace
