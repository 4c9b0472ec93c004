// All that a program needs to choose exemplars: points, options, selections, sweeps, other methods, comparisons, files,
// pages to look at.
// Each of these headers may also be included by itself.
#pragma once

#include "fwsr/base/index.hpp"
#include "fwsr/base/labels.hpp"
#include "fwsr/base/memory.hpp"
#include "fwsr/base/result.hpp"
#include "fwsr/data/read.hpp"
#include "fwsr/data/synthetic.hpp"
#include "fwsr/data/write.hpp"
#include "fwsr/methods/compare.hpp"
#include "fwsr/methods/compare_fields.hpp"
#include "fwsr/methods/compare_table.hpp"
#include "fwsr/methods/methods.hpp"
#include "fwsr/methods/quality.hpp"
#include "fwsr/methods/request.hpp"
#include "fwsr/report/page.hpp"
#include "fwsr/report/rows.hpp"
#include "fwsr/report/run.hpp"
#include "fwsr/solver/options.hpp"
#include "fwsr/solver/result_fields.hpp"
#include "fwsr/solver/select.hpp"
#include "fwsr/solver/selection.hpp"
#include "fwsr/solver/sweep.hpp"
#include "fwsr/version.hpp"
#include "fwsr/views.hpp"
