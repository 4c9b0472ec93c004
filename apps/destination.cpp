#include "apps/destination.hpp"

#include <unistd.h>

#include <cerrno>
#include <sstream>

#include <fmt/format.h>

#include "apps/command.hpp"
#include "apps/text.hpp"
#include "fwsr/base/write_file.hpp"
#include "fwsr/data/many_files.hpp"

namespace fwsr::app {

namespace {

bool is_standard_output(const std::string& path) {
  return path.empty() || path == "-";
}

Place place_of(const std::string& path) {
  return is_standard_output(path) ? standard_output() : must(find_place(path));
}

/// "-o picks.csv", "standard output".
std::string named(const Destination& output) {
  return is_standard_output(output.path) ? "standard output"
                                         : fmt::format("{} {}", output.option, output.path);
}

/// The inputs, and the files that those of them stand for which are patterns.
std::vector<std::string> files_of(const std::vector<std::string>& inputs) {
  std::vector<std::string> files = inputs;
  for (const std::string& input : inputs)
    if (const auto named = files_named(input); named && *named != std::vector{input})
      files.insert(files.end(), named->begin(), named->end());
  return files;
}

}  // namespace

void check_destinations(const std::vector<Destination>& outputs,
                        const std::vector<std::string>& inputs) {
  std::vector<Place> places;
  std::vector<std::string> options;
  for (const Destination& output : outputs) {
    if (output.path.empty()) continue;
    Place place = place_of(output.path);
    for (const std::string& input : files_of(inputs))
      if (place.identity == (input == "-" ? identity_of(STDIN_FILENO) : identity_of(input)))
        throw UsageError(
            fmt::format("{} would overwrite the input; name another file", named(output)));
    for (std::size_t j = 0; j < places.size(); ++j)
      if (same_file(place, places[j]))
        throw UsageError(fmt::format("{} and {} name the same file {}; name two files", options[j],
                                     output.option, output.path));
    places.push_back(std::move(place));
    options.push_back(is_standard_output(output.path) ? "standard output" : output.option);
  }
}

namespace {

/// An output with its file open.
struct Opened {
  const Output* output;
  OutputFile file;
};

void fill(Opened& o) {
  if (o.file.is_terminal()) {
    std::ostringstream text;
    o.output->write(text);
    o.file.stream() << shown_on_terminal(text.str());
  } else {
    o.output->write(o.file.stream());
  }
  o.file.finish();
}

/// Writes what cannot be taken back. False when a reader has gone.
bool write_stream(const Output& output, const Place& place) {
  Opened o{&output, OutputFile(place, [] { return !interrupted(); })};
  try {
    fill(o);
  } catch (const Interrupted&) {
    if (o.file.has_begun()) throw CutOff(place.path);
    throw;
  } catch (const WriteError& e) {
    if (e.code == EPIPE) return false;
    const bool full = e.code == ENOSPC || e.code == EDQUOT || e.code == EFBIG;
    throw Error(fmt::format("{}; {}{}{}", e.what(), full ? "make room or " : "",
                            is_standard_output(output.path) ? "use -o FILE" : "name another",
                            o.file.has_begun() ? ", what is there is not whole" : ""));
  }
  return true;
}

/// Puts the files in place. All are whole and on disk: hardly anything can go wrong, and an
/// interruption is too late.
void commit_all(std::vector<Opened>& files) {
  std::vector<std::string> done;
  for (Opened& o : files) {
    try {
      o.file.commit();
      done.push_back(o.output->path);
    } catch (const WriteError& e) {
      throw Error(done.empty() ? fmt::format("{}; no file was changed", e.what())
                               : fmt::format("{}; {} {} new, no other file was changed", e.what(),
                                             listed(done), done.size() == 1 ? "is" : "are"));
    }
  }
}

}  // namespace

void write_results(const std::vector<Output>& outputs) {
  interrupt_with_care();
  std::vector<Opened> files;
  std::vector<std::pair<const Output*, Place>> streams;
  for (const Output& output : outputs) {
    Place place = place_of(output.path);
    if (place.kind != Place::Kind::file) {
      streams.emplace_back(&output, std::move(place));
      continue;
    }
    try {
      files.push_back({&output, OutputFile(place, [] { return !interrupted(); })});
      fill(files.back());
    } catch (const WriteError& e) {
      throw Error(fmt::format("{}; no file was changed", e.what()));
    }
  }
  bool read = true;
  for (const auto& [output, place] : streams) read = write_stream(*output, place) && read;
  stop_if_interrupted();
  commit_all(files);
  if (!read) throw ClosedPipe{};
}

void write_result(const std::string& path, const std::function<void(std::ostream&)>& write) {
  write_results({{path, write}});
}

}  // namespace fwsr::app
