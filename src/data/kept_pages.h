// Unpacked pages of Parquet files that stay in memory between scans.
#pragma once

#include <cstdint>
#include <map>
#include <memory>
#include <mutex>
#include <string>
#include <utility>

namespace kin::data {

class PageBuffer;

// Holds unpacked pages, up to a number of bytes, so that a column that is read several times is
// unpacked once. The first pages stay: every scan reads in the order of the files, and its result
// does not depend on which pages are kept. Thread-safe.
class KeptPages {
 public:
  using Page = std::shared_ptr<const PageBuffer>;

  KeptPages();
  ~KeptPages();
  KeptPages(const KeptPages&) = delete;

  // Sets how many bytes all pages may take; 0 at first. Surplus pages are dropped, the last of the
  // last file first.
  void limit(std::uint64_t bytes);
  std::uint64_t bytes() const;

  // The page of `file` that begins at `begin`, or nothing.
  Page find(const std::string& file, std::uint64_t begin) const;
  // Reserves memory for a page of `bytes`. If it succeeds, keep() or give_back() must follow.
  bool reserve(std::uint64_t bytes);
  void give_back(std::uint64_t bytes);
  Page keep(const std::string& file, std::uint64_t begin, PageBuffer page);
  // Forgets a page after its last use. Its holders still have it.
  void drop(const std::string& file, std::uint64_t begin);

 private:
  using Key = std::pair<std::string, std::uint64_t>;
  void erase(std::map<Key, Page>::iterator page);

  mutable std::mutex mutex_;  // guards the following
  std::map<Key, Page> pages_;
  std::uint64_t bytes_ = 0;  // kept and reserved
  std::uint64_t limit_ = 0;
};

}  // namespace kin::data
