#include "index/text/windows.h"

#include <algorithm>
#include <array>

namespace kin::index {
namespace {

// The sums of a window, 16 KiB, stay in the first cache of the processor.
constexpr std::uint32_t kWindow = 4096;
// Sums that are compared at once, before any is examined by itself.
constexpr std::uint32_t kStride = 16;

class WindowTerm {
 public:
  WindowTerm(float weight, LengthNorm norm, const TermPostings& postings,
             const std::uint32_t* lengths)
      : weight_(weight), norm_(norm), lengths_(lengths), cursor_(postings) {}

  // An upper bound for the scores of documents in [begin, end). Windows come in order.
  std::uint32_t bound(std::uint32_t begin, std::uint32_t end) {
    if (cursor_.blocks() == 1) return only_block();
    std::uint32_t most = 0;
    while (block_ < cursor_.blocks() && cursor_.block_last(block_) < begin) ++block_;
    for (std::uint32_t block = block_; block < cursor_.blocks(); ++block) {
      most = std::max(most, block_bound(block));
      if (cursor_.block_last(block) + 1 >= end) break;
    }
    return most;
  }

  // Adds the scores of the documents in [begin, end).
  void add_to(std::int32_t* sums, std::uint32_t begin, std::uint32_t end) {
    std::uint32_t doc = cursor_.seek(begin);
    while (doc < end) {
      const auto docs = cursor_.block_docs();
      const auto frequencies = cursor_.block_frequencies();
      std::size_t count = docs.size();
      if (docs.back() >= end)
        count = static_cast<std::size_t>(std::ranges::lower_bound(docs, end) - docs.begin());
      // Scores first and sums after them: the first loop has no scattered writes, so the compiler
      // can use vectors for it.
      for (std::size_t i = 0; i < count; ++i)
        scores_[i] = static_cast<std::int32_t>(
            term_score(weight_, norm_, frequencies[i], lengths_[docs[i]]));
      for (std::size_t i = 0; i < count; ++i) sums[docs[i] - begin] += scores_[i];
      cursor_.skip(count);
      doc = cursor_.doc();
    }
  }

  // Documents come in order.
  std::int32_t score_of(std::uint32_t doc) {
    if (cursor_.seek(doc) != doc) return 0;
    return static_cast<std::int32_t>(
        term_score(weight_, norm_, cursor_.frequency(), lengths_[doc]));
  }

 private:
  std::uint32_t block_bound(std::uint32_t block) {
    if (block != known_block_) {
      known_bound_ = 0;
      for (const Impact& impact : cursor_.impacts(block))
        known_bound_ =
            std::max(known_bound_, score_bound(weight_, norm_, impact.frequency, impact.length));
      known_block_ = block;
    }
    return known_bound_;
  }

  std::uint32_t only_block() {
    // One block has no impacts, but few documents: the exact maximum is computed once.
    if (known_block_ == 0) return known_bound_;
    cursor_.seek(0);
    const auto docs = cursor_.block_docs();
    const auto frequencies = cursor_.block_frequencies();
    for (std::size_t i = 0; i < docs.size(); ++i)
      known_bound_ =
          std::max(known_bound_, term_score(weight_, norm_, frequencies[i], lengths_[docs[i]]));
    known_block_ = 0;
    return known_bound_;
  }

  float weight_;
  LengthNorm norm_;
  const std::uint32_t* lengths_;
  PostingCursor cursor_;
  std::uint32_t block_ = 0;
  std::uint32_t known_block_ = kNoDoc;
  std::uint32_t known_bound_ = 0;
  std::array<std::int32_t, kBlockDocs> scores_;
};

class WindowSearch {
 public:
  WindowSearch(std::vector<std::unique_ptr<WindowTerm>> terms, DocVisitor& visitor)
      : terms_(std::move(terms)),
        visitor_(visitor),
        order_(terms_.size()),
        sum_of_bounds_(terms_.size() + 1) {}

  void run(std::uint32_t documents) {
    for (std::uint32_t begin = 0; begin < documents; begin += kWindow)
      window(begin, std::min(documents, begin + kWindow));
  }

 private:
  struct Bounded {
    WindowTerm* term = nullptr;
    std::uint32_t bound = 0;
  };

  void window(std::uint32_t begin, std::uint32_t end) {
    for (std::size_t i = 0; i < terms_.size(); ++i)
      order_[i] = {terms_[i].get(), terms_[i]->bound(begin, end)};
    // MAXSCORE: terms by the most they can add, ascending, with the running sums of these bounds.
    std::ranges::sort(order_, {}, &Bounded::bound);
    for (std::size_t i = 0; i < order_.size(); ++i)
      sum_of_bounds_[i + 1] = sum_of_bounds_[i] + order_[i].bound;
    const Score least = visitor_.least();
    // Terms that even together cannot reach the score needed only add to hits of the others.
    std::size_t first = 0;
    while (first < order_.size() && sum_of_bounds_[first + 1] < least) ++first;
    if (first == order_.size()) return;  // no document of the window can get in
    sums_.fill(0);
    for (std::size_t i = first; i < order_.size(); ++i)
      order_[i].term->add_to(sums_.data(), begin, end);
    scan(begin, first);
  }

  void scan(std::uint32_t begin, std::size_t first) {
    std::int32_t needed = needed_sum(first);
    for (std::uint32_t at = 0; at < kWindow; at += kStride) {
      std::int32_t any = 0;
      for (std::uint32_t i = at; i < at + kStride; ++i) any |= sums_[i] >= needed ? 1 : 0;
      if (any == 0) continue;
      for (std::uint32_t i = at; i < at + kStride; ++i) {
        if (sums_[i] < needed) continue;
        finish(begin + i, static_cast<Score>(sums_[i]), first);
        needed = needed_sum(first);  // a hit may have raised the least score
      }
    }
  }

  std::int32_t needed_sum(std::size_t first) const {
    const Score least = visitor_.least();
    const Score rest = sum_of_bounds_[first];
    // At least 1: a document without any of the summed terms has the sum 0 and is not a candidate.
    return least > rest + 1 ? static_cast<std::int32_t>(least - rest) : 1;
  }

  void finish(std::uint32_t doc, Score sum, std::size_t first) {
    // The strongest of the left-out terms come first, so that most documents are given up early.
    for (std::size_t i = first; i-- > 0;) {
      if (sum + sum_of_bounds_[i + 1] < visitor_.least()) return;
      sum += static_cast<Score>(order_[i].term->score_of(doc));
    }
    if (sum >= visitor_.least()) visitor_.visit(doc, sum);
  }

  std::vector<std::unique_ptr<WindowTerm>> terms_;
  DocVisitor& visitor_;
  std::vector<Bounded> order_;
  std::vector<Score> sum_of_bounds_;
  std::array<std::int32_t, kWindow> sums_;
};

}  // namespace

void visit_any(std::span<const PlanTerm> terms, LengthNorm norm, PlacedSegment in,
               DocVisitor& visitor) {
  std::vector<std::unique_ptr<WindowTerm>> found;
  for (const PlanTerm& term : terms) {
    if (const auto postings = term.postings(in.segment, in.place))
      found.push_back(std::make_unique<WindowTerm>(term.weight, norm, *postings,
                                                   in.segment.docs().lengths.data()));
  }
  if (found.empty()) return;
  WindowSearch(std::move(found), visitor).run(in.segment.size());
}

}  // namespace kin::index
