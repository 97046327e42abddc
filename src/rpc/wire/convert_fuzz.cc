// Whatever bytes come, reading a message does no harm; what was understood is understood again when
// it is sent on.
#include "rpc/wire/convert.h"

#include <cstdlib>

#include "kindred/v1/node.pb.h"

namespace {

template <typename Message>
void try_as(const std::string& bytes) {
  Message message;
  if (!message.ParseFromString(bytes)) return;
  const auto read = kin::rpc::from_wire(message);
  if (!read.ok()) return;
  Message again;
  kin::rpc::to_wire(*read, again);
  const auto read_again = kin::rpc::from_wire(again);
  if (!read_again.ok()) std::abort();
  Message once_more;
  kin::rpc::to_wire(*read_again, once_more);
  // Rows of maps have no order, but their sizes add up.
  if (again.ByteSizeLong() != once_more.ByteSizeLong()) std::abort();
}

}  // namespace

extern "C" int LLVMFuzzerTestOneInput(const std::uint8_t* data, std::size_t size) {
  const std::string bytes(reinterpret_cast<const char*>(data), size);
  try_as<kindred::v1::CallRequest>(bytes);
  try_as<kindred::v1::CallReply>(bytes);
  return 0;
}
