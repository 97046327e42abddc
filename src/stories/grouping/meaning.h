// The second channel of grouping: vectors of the meaning of headlines, from a file of word vectors.
#pragma once

#include <cstdint>
#include <memory>
#include <span>
#include <string_view>
#include <vector>

#include "embed/embedder.h"

namespace kin::stories {

// Vectors are centred: the mean of everything read so far is subtracted, so that features which all
// headlines of a list share make none alike. Deterministic. One thread only.
class MeaningReader {
 public:
  // The state that a grouper stores.
  struct State {
    std::uint64_t model = 0;  // hash of the model; 0 without one
    std::vector<double> sum;  // of all vectors so far; older ones count less
    double count = 0;
    friend bool operator==(const State&, const State&) = default;
  };

  // `model` may be null: then no text has a vector.
  explicit MeaningReader(std::shared_ptr<const embed::Embedder> model = nullptr);

  // The centred vector of a title and a summary, in steps of 1/254; empty without a model, or if
  // the model knows no word of the title.
  std::vector<std::int8_t> read(std::string_view title, std::string_view summary);

  const State& state() const { return state_; }
  // False if the state is of another model.
  bool restore(State state);
  std::size_t dimension() const { return state_.sum.size(); }

 private:
  std::shared_ptr<const embed::Embedder> model_;
  State state_;
  std::vector<float> vector_;
};

// A sum of vectors. The numbers are whole, so that a sum does not depend on its order.
struct MeaningSum {
  std::vector<float> values;  // empty if there is none
  std::uint32_t count = 0;    // of vectors in the sum
  double length = 0;
  friend bool operator==(const MeaningSum&, const MeaningSum&) = default;

  void add(std::span<const std::int8_t> vector);
  void subtract(std::span<const std::int8_t> vector);
  void add(const MeaningSum& other);

 private:
  void measure();
};

// From -1 to 1; 0 if one of them is empty. Thread-safe.
double cosine(const MeaningSum& a, const MeaningSum& b);

}  // namespace kin::stories
