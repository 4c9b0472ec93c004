// Runs every fuzz target on the inputs it starts from, without a fuzzer: a build of any compiler sees that
// their promises hold. usage: fuzz_replay ROUNDS SEED FOLDER...  with FOLDER/TARGET/INPUT
// Each input is tried as it is, and ROUNDS times with some bytes changed, in compressed parts too. One that
// ends the program is left in the current folder (with sanitizers: set abort_on_error=1 in their options).
#include <algorithm>
#include <csignal>
#include <cstdio>
#include <cstdlib>
#include <filesystem>
#include <fstream>
#include <iterator>
#include <string>

#include "fwsr/base/random.hpp"
#include "repack.hpp"

// CMake names the targets, and gives the function of each the name TARGET_fuzz.
#define TARGET(name) extern "C" int name##_fuzz(const std::uint8_t* data, std::size_t size);
FUZZ_TARGETS
#undef TARGET

namespace {

using fwsr::fuzz::Buffer;

struct Target {
  const char* name;
  int (*run)(const std::uint8_t*, std::size_t);
};
constexpr Target targets[] = {
#define TARGET(name) {#name, name##_fuzz},
    FUZZ_TARGETS
#undef TARGET
};

struct Running {
  const Target* target = nullptr;
  const Buffer* input = nullptr;
} running;

void keep_input(int) {
  const std::string name = std::string("finding-") + running.target->name;
  std::ofstream(name, std::ios::binary)
      .write(reinterpret_cast<const char*>(running.input->data()), std::ssize(*running.input));
  std::fprintf(stderr, "fuzz_replay: the input is in %s\n", name.c_str());
}

void run(const Target& target, const Buffer& input) {
  running = {&target, &input};
  target.run(input.data(), input.size());
}

Buffer content_of(const std::filesystem::path& path) {
  std::ifstream in(path, std::ios::binary);
  return {std::istreambuf_iterator<char>(in), {}};
}

void change_bytes(Buffer& bytes, fwsr::Rng& rng) {
  if (bytes.empty()) return;
  for (int i = 0; i < 3; ++i)
    bytes[rng.next() % bytes.size()] = static_cast<std::uint8_t>(rng.next());
  if (rng.next() % 8 == 0) bytes.resize(rng.next() % bytes.size());
}

long replay(const Target& target, const Buffer& input, long rounds, fwsr::Rng& rng) {
  run(target, input);
  for (long round = 0; round < rounds; ++round) {
    Buffer changed = input;
    const auto change = [&rng](Buffer& part) { change_bytes(part, rng); };
    if (auto inside = fwsr::fuzz::change_part(input, static_cast<unsigned>(rng.next()), change);
        inside && round % 2 == 0)
      changed = std::move(*inside);
    else
      change(changed);
    run(target, changed);
  }
  return 1 + rounds;
}

}  // namespace

int main(int argc, char** argv) {
  if (argc < 4) {
    std::fprintf(stderr, "usage: fuzz_replay ROUNDS SEED FOLDER...\n");
    return 2;
  }
  const long rounds = std::strtol(argv[1], nullptr, 10);
  const unsigned long seed = std::strtoul(argv[2], nullptr, 10);
  std::signal(SIGABRT, keep_input);
  bool all_there = true;
  for (const Target& target : targets) {
    fwsr::Rng rng(seed);
    long runs = 0;
    for (int i = 3; i < argc; ++i) {
      const auto folder = std::filesystem::path(argv[i]) / target.name;
      if (!std::filesystem::is_directory(folder)) continue;
      std::vector<std::filesystem::path> inputs(std::filesystem::directory_iterator(folder), {});
      std::sort(inputs.begin(), inputs.end());
      for (const auto& input : inputs) runs += replay(target, content_of(input), rounds, rng);
    }
    std::printf("%-8s %7ld runs\n", target.name, runs);
    all_there = all_there && runs > 0;
  }
  return all_there ? 0 : 1;  // a target without inputs would pass whatever it does
}
