// A request for exemplars, resolved once: from words to checked options, from these to a plan, and a run that takes the
// plan.
#pragma once

#include <cstdint>
#include <map>
#include <memory>
#include <string>
#include <vector>

#include "fwsr/methods/method.hpp"
#include "fwsr/solver/select.hpp"

namespace fwsr {

class RemoteShards;
struct Chooser;
struct PointsShape;

/// Which method, and how.
struct MethodChoice {
  std::string name = "fwsr";
  std::map<std::string, std::string> settings =
      {};                  // of its parameters, as text: "12", "yes", "lab"
  std::uint64_t seed = 0;  // of methods that draw at random
};

/// A method with its settings, and the options as it understands them. What is wrong with these, whatever the data, was
/// refused when it was made.
struct Request {
  /// The method by its name, its settings read, its own kernel and centring where none was asked for.
  /// @throws Error for a method, a setting or an option that is not there
  explicit Request(const SelectOptions& given, const MethodChoice& choice = {});

  const Method* method;
  Settings settings;
  SelectOptions options;
  std::uint64_t seed = 0;
  std::shared_ptr<const Chooser> elsewhere = {};  ///< who plans and runs it; null: this process

  /// What `run` will do with these points, and take. @throws OptionError, MemoryError
  Plan plan(const PointsView& points) const;
  /// @pre `plan` is of these points
  Selection run(const PointsView& points, const Plan& plan, const Observer& observer = {}) const;
  /// A sentence for people who begin a run that takes longer than a minute: how long, and what would take less. Empty:
  /// it does not.
  std::string warning_of_long_run(const PointsView& points, const Plan& plan) const;

  // The same of points that are on a card already. @throws OptionError for methods that work on the processor
  Plan plan(const DeviceView& points) const;
  Selection run(const DeviceView& points, const Plan& plan, const Observer& observer = {}) const;

  // Of points that live in several places (solver/sharded_points.hpp).
  /// The options, with what the method leaves to the points settled. @throws OptionError for methods that need all points
  /// in one place
  SelectOptions settled_for(const PointsShape& shape) const;
  /// @pre as of select_sharded, with the preprocessing of the settled options
  Selection run(std::shared_ptr<RemoteShards> shards, const PointsShape& shape,
                const Observer& observer = {}) const;

  // The same for every class by itself.
  std::vector<ClassPlan> plan_per_class(const PointsView& points, const Labels& labels,
                                        const ClassCounts& counts) const;
  std::vector<ClassSelection> run_per_class(const PointsView& points,
                                            const std::vector<ClassPlan>& plans,
                                            const Observer& observer = {}) const;
};

}  // namespace fwsr
