#include "fwsr/solver/journal.hpp"

#include <algorithm>
#include <type_traits>

#include "fwsr/solver/messages.hpp"
#include "fwsr/solver/point_shard.hpp"

namespace fwsr {

namespace {

/// A shard that may not be changed cannot answer it.
template <class Question>
constexpr bool changes_shard = !requires(const PointShard& shard, const Question& question) {
  shard.answer(question);
};

template <class... Questions>
bool is_one_of(std::int32_t number) {
  return ((number == fwsr::Questions::number<Questions>()) || ...);
}

bool has(const std::vector<Index>& all, Index one) {
  return std::find(all.begin(), all.end(), one) != all.end();
}

bool only(const std::vector<Index>& all, Index one) {
  return all.size() == 1 && all.front() == one;
}

/// What later questions may make superfluous.
void describe(const BeginRun& q, Journal::Entry& entry) {
  entry.runs = {q.run};
  entry.covariances = {q.covariance};
}
void describe(const Rescore& q, Journal::Entry& entry) {
  entry.runs = {q.run};
}
void describe(const LowerDistances& q, Journal::Entry& entry) {
  entry.runs = {q.run};
}
void describe(const SetPrices& q, Journal::Entry& entry) {
  entry.runs = {q.run};
}
void describe(const Advance& q, Journal::Entry& entry) {
  for (const Advance::Step& s : q.steps) {
    if (!has(entry.runs, s.run)) entry.runs.push_back(s.run);
    if (!has(entry.covariances, s.covariance)) entry.covariances.push_back(s.covariance);
  }
}
void describe(const KeepForms& q, Journal::Entry& entry) {
  entry.makes = q.id;
}
void describe(const KeepFormsInSingle& q, Journal::Entry& entry) {
  entry.makes = q.id;
}
void describe(const KeepBordered& q, Journal::Entry& entry) {
  entry.makes = q.id;
  entry.covariances = {q.id_without};
}
template <class Question>
void describe(const Question&, Journal::Entry&) {}

}  // namespace

QuestionFacts facts_of_question(std::span<const std::byte> question) {
  BytesReader reader(question);
  std::int32_t number = -1;
  reader(number);
  QuestionFacts facts;
  facts.known = Questions::with(number, [&]<class Question>() {
    facts.changes = changes_shard<Question>;
    facts.tells = std::is_same_v<typename Question::Reply, Told>;
  });
  return facts;
}

Index Journal::add(std::span<const std::byte> question) {
  Entry entry{.id = next_++, .question = {question.begin(), question.end()}};
  BytesReader reader(question);
  reader(entry.number);
  bool keep = false;
  const auto strike = [&](const auto& which) { std::erase_if(entries_, which); };
  Questions::with(entry.number, [&]<class Question>() {
    if constexpr (changes_shard<Question>) {
      keep = true;
      Question own{};
      reader(own);
      describe(own, entry);
      if constexpr (std::is_same_v<Question, Forget>) {
        if (own.what == Forget::What::run) keep = !forget_run(own.id);
        if (own.what == Forget::What::covariance) keep = !forget_covariance(own.id);
      } else if constexpr (std::is_same_v<Question, Rescore>) {  // all of c and h
        strike([&](const Entry& e) {
          return is_one_of<Advance, Rescore>(e.number) && only(e.runs, own.run);
        });
      } else if constexpr (std::is_same_v<Question, SetPrices>) {
        strike([&](const Entry& e) {
          return is_one_of<SetPrices>(e.number) && only(e.runs, own.run);
        });
      } else if constexpr (std::is_same_v<Question, SumGroups> ||
                           std::is_same_v<Question, FindMiddles>) {
        strike([&](const Entry& e) { return is_one_of<SumGroups>(e.number); });
        keep = std::is_same_v<Question, SumGroups>;
      } else if constexpr (std::is_same_v<Question, ResidualScores> ||
                           std::is_same_v<Question, ResidualLeaders>) {
        strike([&](const Entry& e) { return is_one_of<ResidualScores>(e.number); });
        keep = std::is_same_v<Question, ResidualScores>;
      }
    }
  });
  if (!keep) return -1;
  entries_.push_back(std::move(entry));
  return entries_.back().id;
}

/// All of a run, unless others have stepped together with it. @return whether it could be struck out
bool Journal::forget_run(Index run) {
  const bool together = std::any_of(entries_.begin(), entries_.end(), [&](const Entry& e) {
    return has(e.runs, run) && !only(e.runs, run);
  });
  if (together) return false;
  std::erase_if(entries_, [&](const Entry& e) { return only(e.runs, run); });
  return true;
}

/// A covariance, unless something that is still listed needs it.
bool Journal::forget_covariance(Index covariance) {
  for (const Entry& e : entries_)
    if (has(e.covariances, covariance)) return false;
  std::erase_if(entries_, [&](const Entry& e) { return e.makes == covariance; });
  return true;
}

Index Journal::bytes() const {
  Index all = 0;
  for (const Entry& e : entries_) all += std::ssize(e.question);
  return all;
}

}  // namespace fwsr
