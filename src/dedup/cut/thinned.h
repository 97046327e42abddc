// Leaves out items that their neighbours cover, in texts that repeat themselves many times.
#pragma once

#include <cstdint>
#include <optional>

namespace kin::dedup {

// From a run of equal items in a row, passes on the first few, one in `step`, and the last. A text
// of one repeated word has as many equal windows as words, and one window in `length` covers as
// much of it. One thread only.
template <typename Item>
class Thinned {
 public:
  // `first`: the number of items passed on at the beginning of a run.
  explicit Thinned(std::uint32_t first) : first_(first) {}

  template <typename Write>
  void add(const Item& item, bool equal_to_last, std::uint32_t step, const Write& write) {
    if (!equal_to_last) flush(write);
    run_ = equal_to_last ? run_ + 1 : 0;
    last_.reset();
    if (run_ < first_ || run_ % step == 0) {
      write(item);
    } else {
      last_ = item;
    }
  }
  template <typename Write>
  void flush(const Write& write) {
    if (last_) write(*last_);
    last_.reset();
  }

 private:
  std::uint32_t first_;
  std::uint32_t run_ = 0;
  std::optional<Item> last_;  // the last item, not passed on yet
};

}  // namespace kin::dedup
