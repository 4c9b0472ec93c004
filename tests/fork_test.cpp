// A process that has used threads forks: the child must be able to work too.
#include <gtest/gtest.h>
#include <sys/wait.h>
#include <unistd.h>

#include <vector>

#include "fwsr/solver/select.hpp"

namespace fwsr {
namespace {

constexpr Index points = 3000, features = 20;

Selection choose(const std::vector<float>& x, int threads) {
  return select(MatrixView<const float>{x.data(), points, features, features},
                {.exemplars = 5, .threads = threads});
}

TEST(Fork, leaves_a_child_that_can_work) {
  std::vector<float> x(static_cast<std::size_t>(points * features));
  for (std::size_t i = 0; i < x.size(); ++i) x[i] = static_cast<float>(i * 7919 % 1009);
  const Selection before = choose(x, 4);
  const pid_t child = ::fork();
  ASSERT_GE(child, 0);
  if (child == 0) {
    ::alarm(60);  // ends a child that waits for threads it does not have
    const Selection mine = choose(x, 4);
    ::_exit(mine.exemplars == before.exemplars ? 0 : 1);
  }
  int status = 0;
  ASSERT_EQ(::waitpid(child, &status, 0), child);
  ASSERT_TRUE(WIFEXITED(status)) << "signal " << WTERMSIG(status);
  EXPECT_EQ(WEXITSTATUS(status), 0);
  EXPECT_EQ(choose(x, 4).exemplars, before.exemplars);  // the parent keeps its threads
}

}  // namespace
}  // namespace fwsr
