#include "fwsr/base/memory_budget.hpp"

#include <gtest/gtest.h>

#include <unistd.h>

#include <filesystem>
#include <fstream>
#include <utility>

#include "fwsr/base/growing_bytes.hpp"
#include "fwsr/base/memory.hpp"
#include "fwsr/base/system_memory.hpp"

namespace fwsr {
namespace {

namespace fs = std::filesystem;

TEST(MemoryBudget, is_shared_by_its_copies_and_gets_back_what_ends) {
  const MemoryBudget budget(1000);
  const MemoryBudget copy = budget;
  MemoryShare one(budget);
  EXPECT_FALSE(one.grow("one", 600));
  {
    MemoryShare other(copy);
    EXPECT_FALSE(other.grow("other", 400));
    const auto refusal = other.grow("other", 1);
    ASSERT_TRUE(refusal);
    EXPECT_NE(refusal->message.find("other: takes more memory"), std::string::npos)
        << refusal->message;
    EXPECT_NE(refusal->message.find("than the 1000 bytes allowed (1001 bytes or more)"),
              std::string::npos)
        << refusal->message;
    EXPECT_EQ(other.bytes(), 400);  // what was refused is not counted
  }
  EXPECT_FALSE(one.grow("one", 400));
  one.shrink(500);
  MemoryShare moved = std::move(one);
  EXPECT_EQ(moved.bytes(), 500);
  moved = MemoryShare(budget);
  EXPECT_FALSE(moved.grow("all of it", 1000));
}

TEST(MemoryBudget, refuses_what_no_machine_has) {
  MemoryShare share;
  EXPECT_FALSE(share.grow("little", 1 << 20));
  const auto refusal = share.grow("much", Index{1} << 62);
  ASSERT_TRUE(refusal);
  EXPECT_NE(refusal->message.find("that are free"), std::string::npos) << refusal->message;
  EXPECT_TRUE(share.grow("an overflow", Index{1} << 62, sizeof(double)));
  EXPECT_EQ(share.bytes(), 1 << 20);
}

TEST(GrowingBytes, hold_what_came_and_count_no_more) {
  const MemoryBudget budget(300'000);
  GrowingBytes bytes(budget);
  for (int i = 0; i < 200'000; ++i) {
    const auto room = bytes.room("bytes");
    ASSERT_TRUE(room) << room.error().message;
    room->front() = static_cast<std::byte>(i % 251);
    bytes.filled(1);
  }
  bytes.finish();
  for (std::size_t i = 0; i < bytes.size(); ++i)
    ASSERT_EQ(bytes.bytes()[i], static_cast<std::byte>(i % 251)) << i;
  MemoryShare rest(budget);
  EXPECT_FALSE(rest.grow("the rest", 100'000));
  EXPECT_TRUE(rest.grow("more", 1));
}

/// A folder that looks like a machine with 1 MiB available.
class Machine : public ::testing::Test {
 protected:
  Machine()
      : root_(fs::temp_directory_path() / fs::path("fwsr-machine-" + std::to_string(::getpid()))) {
    put("/proc/meminfo", "MemTotal: 4096 kB\nMemAvailable:   1024 kB\n");
  }
  ~Machine() override { fs::remove_all(root_); }

  void put(const std::string& path, const std::string& text) {
    fs::create_directories(fs::path(root_.string() + path).parent_path());
    std::ofstream(root_.string() + path) << text;
  }
  Index available() { return available_memory(root_.string()); }

 private:
  fs::path root_;
};

TEST_F(Machine, without_groups_has_what_it_says) {
  EXPECT_EQ(available(), 1 << 20);
}

TEST_F(Machine, with_groups_of_version_2_leaves_the_least_of_all_levels) {
  put("/proc/self/cgroup", "0::/a/b\n");
  put("/sys/fs/cgroup/a/b/memory.max", "max\n");
  put("/sys/fs/cgroup/a/b/memory.current", "1000\n");
  EXPECT_EQ(available(), 1 << 20);
  put("/sys/fs/cgroup/a/memory.max", "500000\n");
  put("/sys/fs/cgroup/a/memory.current", "200000\n");
  EXPECT_EQ(available(), 300'000);
  put("/sys/fs/cgroup/a/memory.stat", "anon 5\ninactive_file 50000\n");
  EXPECT_EQ(available(), 350'000);
  put("/sys/fs/cgroup/a/b/memory.high", "11000\n");
  EXPECT_EQ(available(), 10'000);
  put("/sys/fs/cgroup/a/b/memory.current", "12000\n");
  EXPECT_EQ(available(), 0);
}

TEST_F(Machine, in_a_container_finds_its_limit_at_the_top) {
  put("/proc/self/cgroup", "0::/not/seen/from/inside\n");
  put("/sys/fs/cgroup/memory.max", "700\n");
  put("/sys/fs/cgroup/memory.current", "100\n");
  EXPECT_EQ(available(), 600);
}

TEST_F(Machine, with_groups_of_version_1_leaves_the_least_of_all_levels) {
  put("/proc/self/cgroup", "9:cpu,cpuacct:/x\n5:hugetlb,memory:/a/b\n1:name=systemd:/y\n");
  const std::string a = "/sys/fs/cgroup/memory/a";
  put(a + "/b/memory.limit_in_bytes", "9223372036854771712\n");
  put(a + "/b/memory.usage_in_bytes", "10\n");
  EXPECT_EQ(available(), 1 << 20);
  put(a + "/memory.limit_in_bytes", "4000\n");
  put(a + "/memory.usage_in_bytes", "3000\n");
  EXPECT_EQ(available(), 1000);
  put(a + "/memory.stat", "inactive_file 7\ntotal_inactive_file 500\n");
  EXPECT_EQ(available(), 1500);
}

TEST_F(Machine, with_nonsense_in_its_files_is_no_trouble) {
  put("/proc/self/cgroup", "\n:\n::\n0::\nmemory\n3:memory\n0::////\n");
  put("/sys/fs/cgroup/memory.max", "-\n");
  put("/sys/fs/cgroup/memory.current", "");
  EXPECT_EQ(available(), 1 << 20);
}

}  // namespace
}  // namespace fwsr
