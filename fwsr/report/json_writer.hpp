// JSON for the script of a page, written as it comes.
#pragma once

#include <cmath>
#include <concepts>
#include <string>
#include <string_view>

#include <fmt/format.h>

#include "fwsr/report/text.hpp"

namespace fwsr::report {

/// Commas are put where they belong; what is opened must be closed.
class JsonWriter {
 public:
  JsonWriter& object() { return open('{'); }
  JsonWriter& array() { return open('['); }
  JsonWriter& end_object() { return close('}'); }
  JsonWriter& end_array() { return close(']'); }

  JsonWriter& key(std::string_view name) {
    separate();
    out_ += json(name) + ":";
    first_ = true;
    return *this;
  }
  JsonWriter& value(std::string_view text) { return raw(json(text)); }
  JsonWriter& value(const char* text) { return raw(json(text)); }
  JsonWriter& value(bool truth) { return raw(truth ? "true" : "false"); }
  JsonWriter& value(std::integral auto number) { return raw(fmt::format("{}", number)); }
  /// Null for what JSON has no number for.
  JsonWriter& value(double number, int digits = 6) {
    return raw(std::isfinite(number) ? fmt::format("{:.{}g}", number, digits) : "null");
  }
  JsonWriter& null() { return raw("null"); }

  template <class T>
  JsonWriter& field(std::string_view name, const T& what) {
    return key(name), value(what);
  }

  const std::string& text() const { return out_; }

 private:
  void separate() {
    if (!first_) out_ += ',';
    first_ = false;
  }
  JsonWriter& raw(std::string_view text) {
    separate();
    out_ += text;
    return *this;
  }
  JsonWriter& open(char bracket) {
    separate();
    out_ += bracket;
    first_ = true;
    return *this;
  }
  JsonWriter& close(char bracket) {
    out_ += bracket;
    first_ = false;
    return *this;
  }

  std::string out_;
  bool first_ = true;
};

}  // namespace fwsr::report
