#include "data/files/packed_source.h"

#include <fmt/format.h>

namespace kin::data {

Result<bool> PackedSource::fill() {
  if (begin_ < end_) return true;
  KIN_TRY(end_, file_.read(packed_.data(), packed_.size()));
  begin_ = 0;
  consumed_ += end_;
  return end_ > 0;
}

Error PackedSource::damaged(std::string_view why) const {
  return Error{Code::kDataLoss,
               fmt::format("{}: the compressed data is damaged: {}", shown_as_, why)};
}

Error PackedSource::something_follows() const {
  return Error{Code::kDataLoss,
               fmt::format("{}: something follows the compressed data", shown_as_)};
}

Error PackedSource::cut_short() const {
  return Error{Code::kDataLoss, fmt::format("{}: the compressed data ends too early (was the file "
                                            "copied or downloaded completely?)",
                                            shown_as_)};
}

}  // namespace kin::data
