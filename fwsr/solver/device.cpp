#include "fwsr/solver/device.hpp"

#include <charconv>

#include <fmt/format.h>

#include "fwsr/base/quoted.hpp"

namespace fwsr {

Result<DeviceChoice> device_named(std::string_view name) {
  constexpr std::string_view card = "cuda:";
  if (name == "cpu") return DeviceChoice{};
  if (name == "cuda") return DeviceChoice{.kind = DeviceChoice::Kind::cuda};
  if (name == "auto") return DeviceChoice{.kind = DeviceChoice::Kind::automatic};
  if (name.starts_with(card)) {
    DeviceChoice choice{.kind = DeviceChoice::Kind::cuda};
    const char* const end = name.data() + name.size();
    const auto [stop, error] = std::from_chars(name.data() + card.size(), end, choice.number);
    if (error == std::errc() && stop == end && choice.number >= 0) return choice;
  }
  return Failure{fmt::format("device {} is not known; write cpu, cuda, cuda:1 or auto",
                             in_quotes(std::string(name)))};
}

std::string text_of(const DeviceChoice& device) {
  if (device.kind == DeviceChoice::Kind::cpu) return "cpu";
  if (device.kind == DeviceChoice::Kind::automatic) return "auto";
  return device.number == 0 ? "cuda" : fmt::format("cuda:{}", device.number);
}

}  // namespace fwsr
