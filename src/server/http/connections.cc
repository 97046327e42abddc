#include "server/http/connection.h"

namespace kin::server {

bool Connections::enter(const std::shared_ptr<AnyConnection>& connection, std::size_t most) {
  const std::lock_guard guard(lock_);
  if (stopping_ || all_.size() >= most) return false;
  all_.emplace(connection.get(), connection);
  return true;
}

void Connections::leave(AnyConnection* connection) {
  const std::lock_guard guard(lock_);
  all_.erase(connection);
  if (all_.empty()) gone_.notify_all();
}

std::size_t Connections::count() const {
  const std::lock_guard guard(lock_);
  return all_.size();
}

void Connections::stop_all(bool at_once) {
  std::vector<std::shared_ptr<AnyConnection>> there;
  {
    const std::lock_guard guard(lock_);
    stopping_ = true;
    for (const auto& [key, weak] : all_) {
      if (auto connection = weak.lock()) there.push_back(std::move(connection));
    }
  }
  for (const auto& connection : there) connection->stop(at_once);
}

bool Connections::wait_until_gone(std::chrono::milliseconds time) {
  std::unique_lock guard(lock_);
  return gone_.wait_for(guard, time, [this] { return all_.empty(); });
}

}  // namespace kin::server
