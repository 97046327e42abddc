// Objects of S3, behind the proxy that checks conditions as S3 does.
#include "cloud/object_store.h"

#include "cloud/s3_client.h"
#include "cloud/testing/fault_proxy.h"
#include "cloud/testing/object_store_contract.h"

namespace kin::cloud {
namespace {

// A part of the bucket of one server for each test.
MakeObjects in_bucket(const FaultProxy& server) {
  static int parts = 0;
  const std::string prefix = "part " + std::to_string(++parts) + "/";
  return [&server, prefix, clients = std::make_shared<std::atomic<std::uint64_t>>(0)] {
    return open_s3_objects(
        std::make_unique<S3Client>(
            server.options(), S3Options{.bucket = "bucket", .style = S3Options::Style::kPath},
            system_clock(), ++*clients),
        prefix);
  };
}

MakeObjects on_server() {
  static const FaultProxy server("s3rver", {"bucket"}, {"--faults", ""});
  return in_bucket(server);
}

MakeObjects on_faulty_server() {
  static const FaultProxy server("s3rver", {"bucket"}, {"--faults", kHttpFaults});
  return in_bucket(server);
}

INSTANTIATE_TEST_SUITE_P(Objects, ObjectStoreContract,
                         testing::Values(ObjectsKind{"S3", on_server},
                                         ObjectsKind{"FaultyS3", on_faulty_server}),
                         [](const auto& kind) { return std::string(kind.param.name); });

}  // namespace
}  // namespace kin::cloud
