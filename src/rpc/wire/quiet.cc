#include "rpc/wire/quiet.h"

#include <google/protobuf/stubs/logging.h>
#include <grpc/support/log.h>

#include <mutex>

namespace kin::rpc {

void keep_libraries_quiet() {
  static std::once_flag once;
  std::call_once(once, [] {
    gpr_set_log_function([](gpr_log_func_args*) {});
    google::protobuf::SetLogHandler(nullptr);
  });
}

}  // namespace kin::rpc
