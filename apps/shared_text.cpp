#include "apps/shared_text.hpp"

#include <iterator>
#include <utility>

#include "apps/command.hpp"
#include "fwsr/base/archive.hpp"
#include "fwsr/base/at.hpp"
#include "fwsr/base/memory.hpp"
#include "fwsr/base/string_bytes.hpp"
#include "fwsr/data/csv_doubts.hpp"
#include "fwsr/data/join.hpp"

namespace fwsr {

template <class A>
void fields(A& a, ColumnFacts& v) {
  a(v.first, v.counts, v.whole);
}

}  // namespace fwsr

namespace fwsr::app {

namespace {

/// Rank 0 asks twice: what stands in the files, and, with all answers, for the rows of each.
struct Question {
  std::vector<std::string> paths;  // the first time ...
  std::string label_column, id_column;
  std::vector<std::string> columns, exclude_columns;
  std::string variable;
  Header header = Header::automatic;
  Index memory = 0;
  int threads = 0;
  std::vector<TextPiece> pieces;  // ... and the second
};
template <class A>
void fields(A& a, Question& v) {
  a(v.paths, v.label_column, v.id_column, v.columns, v.exclude_columns, v.variable, v.header,
    v.memory, v.threads, v.pieces);
}

/// What rank 0 wants to know of the rows of a rank.
struct AboutRows {
  std::vector<std::string> ids, classes;
  std::vector<Labels::Code> codes;
  std::vector<ColumnFacts> columns;
};
template <class A>
void fields(A& a, AboutRows& v) {
  a(v.ids, v.classes, v.codes, v.columns);
}

template <class T>
Bytes as_bytes(T value) {
  BytesWriter writer;
  writer(value);
  return writer.take();
}
template <class T>
T from_bytes(std::span<const std::byte> bytes) {
  T value;
  BytesReader reader(bytes);
  reader(value);
  return value;
}

RowsHere kept(std::shared_ptr<const Dataset> rows) {
  const PointsView view = rows->view();
  return {.keep = std::move(rows), .view = view};
}

}  // namespace

Dataset SharedText::load(mpi::Ranks& ranks, const std::vector<std::string>& paths,
                         const ReadOptions& options, Index memory, int threads) {
  Question question{.paths = paths,
                    .label_column = options.label_column,
                    .id_column = options.id_column,
                    .columns = options.columns,
                    .exclude_columns = options.exclude_columns,
                    .variable = options.variable,
                    .header = options.header,
                    .memory = memory,
                    .threads = threads,
                    .pieces = {}};
  Question all;
  for (const Bytes& reply : ranks.tell(as_bytes(std::move(question))))
    for (TextPiece& piece : from_bytes<std::vector<TextPiece>>(reply)) all.pieces.push_back(piece);
  const std::vector<Bytes> replies = ranks.tell(as_bytes(std::move(all)));

  Dataset data = TextSet::as_stream(set_);
  data.memory = MemoryShare(options.budget);
  std::vector<ColumnFacts> columns;
  Index rows = 0;
  for (int rank = 0; rank < communicator_.size(); ++rank) {
    AboutRows about = from_bytes<AboutRows>(replies[at(rank)]);
    const Index own = mpi::portion_of(set_->rows(), rank, communicator_.size()).size;
    if (own > 0 && rows > 0) add_facts(columns, rows, about.columns);
    if (own > 0 && rows == 0) columns = std::move(about.columns);
    rows += own;
    data.ids.insert(data.ids.end(), std::make_move_iterator(about.ids.begin()),
                    std::make_move_iterator(about.ids.end()));
    for (const Labels::Code code : about.codes) data.labels.add(about.classes[at(code)]);
  }
  Index bytes = data.labels.bytes();
  for (const std::string& id : data.ids) bytes += growing_string_bytes(id);
  if (auto refusal = data.memory.grow(data.name, bytes)) throw MemoryError(refusal->message);
  if (data.table && options.columns.empty())
    data.table->doubts = doubtful_columns(set_->layout(), columns, rows);
  return data;
}

Bytes SharedText::answer(std::span<const std::byte> what) {
  const Question question = from_bytes<Question>(what);
  const int rank = communicator_.rank(), ranks = communicator_.size();
  if (question.pieces.empty()) {
    const Index memory =
        question.memory > 0 ? question.memory : available_memory() / 10 * 8 / on_this_machine_;
    ReadOptions options;
    options.label_column = question.label_column;
    options.id_column = question.id_column;
    options.columns = question.columns;
    options.exclude_columns = question.exclude_columns;
    options.variable = question.variable;
    options.header = question.header;
    options.threads = question.threads > 0 ? question.threads : default_threads();
    options.budget = MemoryBudget(memory);
    set_ = std::make_shared<TextSet>(must(TextSet::open(question.paths, options)));
    const Index pieces = set_->pieces();
    return as_bytes(must(set_->look_through(pieces * rank / ranks, pieces * (rank + 1) / ranks)));
  }
  if (std::ssize(question.pieces) != set_->pieces())
    throw Error("the files of the points have changed while they were read; start again");
  if (auto failure = set_->number_rows(question.pieces)) throw Error(failure->message);
  own_ = mpi::portion_of(set_->rows(), rank, ranks);
  here_ = std::make_shared<const Dataset>(must(set_->read(own_.first, own_.first + own_.size)));
  AboutRows about{.ids = here_->ids,
                  .classes = here_->labels.names(),
                  .codes = here_->labels.codes(),
                  .columns = {}};
  if (!sparse())
    about.columns =
        facts_of_columns(set_->layout(), std::get<DenseMatrix<double>>(here_->points).values);
  return as_bytes(std::move(about));
}

RowsHere SharedText::rows(Index first, Index last) {
  if (here_ && first == own_.first && last == own_.first + own_.size) return kept(here_);
  return kept(std::make_shared<const Dataset>(must(set_->read(first, last))));
}

RowsHere SharedText::some_rows(std::span<const Index> some) {
  here_.reset();
  if (some.empty()) return rows(0, 0);
  const Index first = some.front();
  const Dataset all = must(set_->read(first, some.back() + 1));
  std::vector<Index> places(some.begin(), some.end());
  for (Index& i : places) i -= first;
  return kept(std::make_shared<const Dataset>(must(some_points(all, places))));
}

}  // namespace fwsr::app
