// What every question to several shards (questions.hpp) has in common: to fetch some points, and to end what was begun.
#pragma once

#include <algorithm>
#include <utility>
#include <vector>

#include "fwsr/solver/questions.hpp"

namespace fwsr {

/// Some points, in the order in which they were asked for.
struct AskedRows {
  std::vector<double> rows;        // a_i, dim numbers each
  std::vector<double> squares;     // ||a_i||^2 without eta
  std::vector<double> taken_away;  // what centring took, as a norm
};

template <class Shards>
AskedRows ask_rows(Shards& shards, Index set, std::vector<Index> points, Index numbers_each) {
  const RowsOf question{.set = set, .points = std::move(points)};
  std::vector<RowsOf::Reply> replies = shards.ask(question);
  if (replies.size() == 1) {
    RowsOf::Reply& all = replies.front();
    return {std::move(all.rows), std::move(all.squares), std::move(all.taken_away)};
  }
  const auto dim = static_cast<std::size_t>(numbers_each);
  AskedRows all{.rows = std::vector<double>(question.points.size() * dim),
                .squares = std::vector<double>(question.points.size()),
                .taken_away = std::vector<double>(question.points.size())};
  for (const RowsOf::Reply& reply : replies)
    for (std::size_t w = 0; w < reply.which.size(); ++w) {
      const auto to = static_cast<std::size_t>(reply.which[w]);
      std::copy_n(reply.rows.begin() + static_cast<Index>(w * dim), dim,
                  all.rows.begin() + static_cast<Index>(to * dim));
      all.squares[to] = reply.squares[w];
      all.taken_away[to] = reply.taken_away[w];
    }
  return all;
}

template <class Shards>
void forget(Shards& shards, Forget::What what, Index id) noexcept {
  try {
    shards.ask(Forget{.what = what, .id = id});
  } catch (...) {  // shards that are gone have forgotten
  }
}

}  // namespace fwsr
