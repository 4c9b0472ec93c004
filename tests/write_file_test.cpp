#include <gtest/gtest.h>

#include <sys/stat.h>

#include <cstdlib>
#include <filesystem>
#include <fstream>
#include <sstream>
#include <thread>
#include <vector>

#include "fwsr/base/write_file.hpp"

namespace fwsr {
namespace {

namespace fs = std::filesystem;

/// A folder of its own for each test, removed afterwards.
class WriteFile : public ::testing::Test {
 protected:
  void SetUp() override {
    std::string name = (fs::temp_directory_path() / "fwsr_write_file_XXXXXX").string();
    ASSERT_TRUE(::mkdtemp(name.data()));
    folder_ = name;
  }
  void TearDown() override { fs::remove_all(folder_); }
  std::string path(const char* name = "x.txt") const { return (folder_ / name).string(); }
  std::string content() const {
    std::ostringstream all;
    all << std::ifstream(path(), std::ios::binary).rdbuf();
    return all.str();
  }
  std::ptrdiff_t files() const {
    return std::distance(fs::directory_iterator(folder_), fs::directory_iterator());
  }
  Place place() const { return find_place(path()).value(); }

  fs::path folder_;
};

TEST_F(WriteFile, two_threads_leave_the_whole_file_of_one) {
  const std::string a(300'000, 'a'), b(200'000, 'b');
  for (int round = 0; round < 20; ++round) {
    const auto write = [&](const std::string& text) {
      ASSERT_TRUE(write_whole(path(), [&](std::ostream& out) { out << text; }));
    };
    std::thread one(write, a), other(write, b);
    one.join(), other.join();
    EXPECT_TRUE(content() == a || content() == b);
    EXPECT_EQ(files(), 1);
  }
}

TEST_F(WriteFile, what_is_not_committed_was_never_there) {
  std::ofstream(path()) << "before";
  {
    OutputFile file(place());
    file.stream() << "after";
    file.finish();
    EXPECT_EQ(files(), 2);
  }
  EXPECT_EQ(content(), "before");
  EXPECT_EQ(files(), 1);
}

TEST_F(WriteFile, a_writer_that_throws_leaves_nothing) {
  EXPECT_THROW((void)write_whole(path(), [](std::ostream&) { throw std::bad_alloc(); }),
               std::bad_alloc);
  EXPECT_EQ(files(), 0);
}

TEST_F(WriteFile, asks_whether_to_go_on_while_it_writes) {
  int asked = 0;
  OutputFile file(place(), [&] { return ++asked < 3; });
  const std::string piece(1 << 20, 'x');
  EXPECT_THROW(
      {
        for (int i = 0; i < 10; ++i) file.stream() << piece;
      },
      Interrupted);
}

TEST_F(WriteFile, a_pipe_that_nobody_reads_does_not_hold_it) {
  ASSERT_EQ(::mkfifo(path().c_str(), 0600), 0);
  int asked = 0;
  EXPECT_THROW(OutputFile(place(), [&] { return ++asked < 4; }), Interrupted);
}

TEST_F(WriteFile, failures_name_the_path_and_say_that_nothing_changed) {
  const auto done = write_whole("/dev/full", [](std::ostream& out) { out << "x"; });
  ASSERT_FALSE(done);
  EXPECT_TRUE(done.error().message.starts_with("/dev/full: cannot be written: "));
  const auto folder = write_whole(folder_.string(), [](std::ostream&) {});
  ASSERT_FALSE(folder);
  EXPECT_NE(folder.error().message.find("folder"), std::string::npos);
}

TEST_F(WriteFile, places_are_the_same_by_any_name) {
  EXPECT_TRUE(same_file(place(), find_place(path("./x.txt")).value()));
  std::ofstream(path()) << "here";
  fs::create_hard_link(path(), path("y.txt"));
  fs::create_symlink("y.txt", path("z.txt"));
  EXPECT_TRUE(same_file(place(), find_place(path("z.txt")).value()));
  EXPECT_FALSE(same_file(place(), find_place(path("other")).value()));
}

}  // namespace
}  // namespace fwsr
