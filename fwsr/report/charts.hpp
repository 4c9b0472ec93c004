// Curves as SVG, drawn without a script.
#pragma once

#include <string>
#include <vector>

#include "fwsr/report/measure.hpp"

namespace fwsr::report {

/// What the first 1, 2, ... exemplars span, beside points drawn at random. The script moves its mark, and finds the edges
/// of the plot in data-left, data-right, data-bottom and data-top.
std::string enough_chart(const Measured& measured, bool classes);

/// Objective and gap of every step, on a scale of powers of ten; empty where there is nothing to draw.
std::string trace_chart(const std::vector<Step>& trace);

}  // namespace fwsr::report
