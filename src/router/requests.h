// The requests of a router to shards, in domain types. `rpc` turns these into messages.
//
// Every request names its reply as `Reply`. Requests about partitions are answered only by a shard
// that owns them all (see Refused in shard_client.h).
#pragma once

#include <cstdint>
#include <map>
#include <optional>
#include <set>
#include <string>
#include <string_view>
#include <type_traits>
#include <variant>
#include <vector>

#include "base/doc_id.h"
#include "base/hash.h"
#include "index/about.h"
#include "index/find.h"
#include "index/graph.h"
#include "index/mutation.h"
#include "index/present.h"
#include "index/query.h"
#include "index/replication.h"
#include "index/shard.h"

namespace kin::router {

using Partitions = std::set<index::PartitionId>;

// ---- Writing

struct SessionOpened {
  std::uint64_t session = 0;
};
// Begins a session of writes on the shard. A session belongs to one sender.
struct OpenSession {
  using Reply = SessionOpened;
};

struct WriteReply {
  std::vector<index::Outcome> outcomes = {};  // one per mutation
  std::vector<index::Repeat> repeats = {};
  // The request was applied before the shard restarted: there are no outcomes.
  bool forgotten = false;
};
// Applied at most once, however often it arrives. The next request of a session has a higher
// sequence, and is sent when the one before was answered or given up: one that was given up cannot
// be applied any more once a later one was.
struct WriteRequest {
  using Reply = WriteReply;
  index::RequestId id = {};
  // Entities come with their partition. An edge, or a fragment of an edge, is kAbsent where the
  // entity that it leaves does not exist. Owners are not assigned here.
  std::vector<index::Mutation> mutations = {};
  Partitions partitions = {};            // of all entities that they belong to
  std::vector<std::uint64_t> ages = {};  // see index::ApplyOptions
};

struct NearTexts {
  std::vector<std::vector<index::NearText>> texts = {};  // in the order of the sketches
};
// Asks for the texts of the shard that are near to others; see index::Shard::near_texts().
struct NearRequest {
  using Reply = NearTexts;
  std::vector<index::TextSketch> sketches = {};
  Partitions partitions = {};
};

// Tells the shard what it owns, and what not, as a map says. Older epochs are ignored.
struct Assigned {};
struct AssignRequest {
  using Reply = Assigned;
  std::vector<index::AssignOwner> owners = {};
  std::uint64_t divided = 0;  // ShardMap::divided_at() of that map; lower ones are ignored
};

// ---- The directory: in which partition an entity is. Entries are kept by the owner of the
// entity's home partition, which follows from its id. Only a repartition changes them.

struct Places {
  std::vector<std::optional<index::PartitionId>> partitions = {};  // in the order asked for
};
struct Claim {
  DocId id = {};
  index::PartitionId home{};
  index::PartitionId partition{};  // where the entity goes unless it has a place already
};
// Gives every id that has no place the one claimed, durably, and tells the places of all.
struct ClaimRequest {
  using Reply = Places;
  std::vector<Claim> claims = {};
};
struct Locate {
  DocId id = {};
  index::PartitionId home{};
};
struct LocateRequest {
  using Reply = Places;
  std::vector<Locate> entities = {};
};

// ---- Reading

struct Entities {
  std::vector<std::optional<index::StoredEntity>> entities = {};  // in the order asked for
};
struct GetRequest {
  using Reply = Entities;
  std::vector<DocId> ids = {};
  Partitions partitions = {};  // in which they are
  index::Want want = {};
};

struct StatisticsReply {
  index::TextStatistics text = {};
  // A number for the state of the shard that they are of. In one state, statistics do not change.
  std::uint64_t state = 0;
};
// Asks for the shard's part of the statistics that the text leg needs.
struct StatisticsRequest {
  using Reply = StatisticsReply;
  index::ShardQuery query = {};  // its scope has the partitions
};

struct Sums {
  std::optional<std::uint64_t> count = {};
  std::vector<index::FacetCounts> facets = {};
};
// The count and the facets of entities that nearness or links brought in, and that the words of the
// query do not match.
struct SumRequest {
  using Reply = Sums;
  index::ShardQuery query = {};
  std::vector<DocId> joined = {};
};

// Documents come without their texts, which are long: snippets are made of them.
struct Presented {
  std::vector<std::optional<index::StoredDocument>> documents = {};  // in the order asked for
  std::vector<std::vector<index::HitSnippet>> snippets = {};         // the same; empty without text
  // The same; empty unless asked for. Nothing for a document that the words do not match.
  std::vector<std::optional<index::TextExplanation>> explanations = {};
};
// Asks for what shows found documents.
struct PresentRequest {
  using Reply = Presented;
  std::vector<index::DocIdentity> documents = {};
  Partitions partitions = {};
  // Its words are marked in snippets, except common ones such as "the". Nothing: no snippets.
  std::optional<index::TextLeg> text = {};
  index::SnippetOptions snippets = {};
  bool explain = false;  // the scores that the words of `text` have by `statistics`, too
  std::optional<index::TextStatistics> statistics = {};  // nothing: the shard's own
};

// How the best hits of a shard are shown; see PresentRequest.
struct Show {
  std::optional<index::TextLeg> text = {};
  index::SnippetOptions snippets = {};
  std::size_t most = 0;  // hits of a shard that are shown with its findings
  bool explain = false;  // the scores of the words, too
};
struct FindReply {
  index::Findings found = {};
  // Instead of findings: the shard is in another state than the one asked about.
  std::optional<StatisticsReply> changed = {};
  std::vector<std::uint32_t> shown = {};  // places among the candidates
  Presented presented = {};               // in the order of `shown`
};
// Runs the legs of a query that it has; a vector leg brings its vector.
struct FindRequest {
  using Reply = FindReply;
  index::ShardQuery query = {};  // its scope has the partitions; `statistics` is ignored
  std::optional<index::TextStatistics> statistics = {};  // of all shards
  // The state of this shard that `statistics` contain. Nothing: whatever it is.
  std::optional<std::uint64_t> state = {};
  std::optional<Show> show = {};
};

// ---- Graph

struct Heads {
  std::vector<std::optional<index::EntityHead>> heads = {};  // in the order asked for
};
struct HeadsRequest {
  using Reply = Heads;
  std::vector<DocId> ids = {};
  Partitions partitions = {};
};

struct EdgeLists {
  std::vector<std::vector<index::GraphEdge>> edges = {};  // in the order of the nodes asked for
};
// Edges of nodes, those that leave first, then by name, other end and beginning. A shard knows the
// edges that leave its own entities, wherever they lead.
struct EdgesRequest {
  using Reply = EdgeLists;
  std::vector<DocId> nodes = {};
  index::Direction direction = index::Direction::kOut;
  index::EdgeFilter filter = {};
  std::size_t limit = 10'000;  // per node
  Partitions partitions = {};  // that edges begin in
};

// Whether entities are in a scope; see index::ages_in_scope().
struct AgesInScope {
  std::vector<std::optional<std::uint64_t>> ages = {};  // in the order asked for
};
struct ScopeRequest {
  using Reply = AgesInScope;
  std::vector<DocId> ids = {};
  index::Scope scope = {};  // with its partitions
};

using index::About;
struct Abouts {
  std::vector<std::optional<About>> entities = {};  // in the order asked for
};
struct AboutRequest {
  using Reply = Abouts;
  std::vector<DocId> ids = {};
  Partitions partitions = {};  // in which they are
  index::Want want = {};       // with `as_of`: edges and fragments of that moment, too
};

// ---- Copies and care

// The entities of one partition, a page at a time.
struct ListRequest {
  using Reply = index::ScanPage;
  index::PartitionId partition{};
  std::optional<index::DocNumber> after = {};  // `next` of the page before
  std::size_t limit = 1'000;
  index::Want want = {};
};

// See index/replication.h. The shard need not own what is read.
struct ReadLogRequest {
  using Reply = index::LogPage;
  index::LogRequest log = {};
};

struct DigestReply {
  index::PartitionDigest digest = {};
  Hash128 places = {};  // of the directory entries of entities that are at home in the partition
  Lsn lsn = 0;  // of the view that it was computed on
};
struct DigestRequest {
  using Reply = DigestReply;
  index::PartitionId partition{};
  // The shard goes on from what it kept of an earlier request like this one, and keeps the result
  // for the next: what is read is what changed since.
  bool kept = false;
  // Nobody serves the partition until the answer is there.
  bool urgent = false;
};

// ---- Moves of a partition to another shard (router/move.h). A shard remembers the newest move of
// each partition that it takes part in. It fails requests of older ones, and of one that is over,
// with kFailedPrecondition: a late message does no harm.

struct MoveName {
  std::uint64_t id = 0;  // later moves have higher ones
  index::PartitionId partition{};
  friend bool operator==(const MoveName&, const MoveName&) = default;
};

// How far a shard has received a partition. Durable.
struct MoveProgress {
  bool ready = false;   // what it held of the partition before is gone
  bool copied = false;  // the whole copy has arrived
  std::optional<std::string> next = {};  // CopyRequest::after of the next page
  Lsn lsn = 0;                           // of the source: the log has arrived up to here
  std::uint64_t entities = 0;            // of the copy that have arrived
  std::uint64_t bytes = 0;               // of all records that have arrived, about
  friend bool operator==(const MoveProgress&, const MoveProgress&) = default;
};
// Begins to receive a partition, and removes a piece of what the shard holds of it; repeat until it
// is ready. kFailedPrecondition if the shard owns the partition.
struct ReceiveRequest {
  using Reply = MoveProgress;
  MoveName move = {};
  std::size_t limit = 500;  // entities removed
};

struct Placed {
  DocId id = {};
  index::PartitionId partition{};
  std::uint64_t since = 0;  // see PlaceRequest; an entry with a later one is not overwritten
  friend bool operator==(const Placed&, const Placed&) = default;
};
// Takes records and directory entries, durably, before it says how far it has come.
struct TakeRequest {
  using Reply = MoveProgress;
  MoveName move = {};
  std::vector<index::Record> records = {};
  std::vector<Placed> places = {};
  MoveProgress progress = {};  // `ready` is ignored, and so is an LSN lower than before
};

// Records of a page, which ends with the one that brings it to so many bytes.
inline constexpr std::size_t kPageBytes = 4 << 20;

struct FollowPage {
  std::vector<index::Record> records = {};
  Lsn up_to = 0;       // see index::LogPage
  Lsn last = 0;        // end of the log
  bool owned = false;  // whether the shard owns the partition at that LSN
};
// Reads the log of a partition, and keeps the rest of it until the move is over.
struct FollowRequest {
  using Reply = FollowPage;
  MoveName move = {};
  // Everything up to here has arrived. Nothing: begins; the page has no records, and `up_to` says
  // where the log is followed from.
  std::optional<Lsn> after = {};
  std::size_t limit = 500;  // changes
  std::size_t bytes = kPageBytes;
};

// Pages may come from different moments: the log from before the first one continues them.
struct CopyRequest {
  using Reply = index::ExportPage;
  MoveName move = {};
  std::optional<std::string> after = {};  // `next` of the page before
  std::size_t limit = 500;                // records
  std::size_t bytes = kPageBytes;
};

// Has the target read pages of the copy from the source, and take them, until about `pull` bytes
// have come: a CopyRequest and a TakeRequest for each, without a detour. Any error: nothing is
// lost, and the caller may carry the pages itself.
struct PullRequest {
  using Reply = MoveProgress;
  MoveName move = {};
  std::string source = {};  // its address
  Hash128 shard = {};       // its identity
  std::size_t limit = 500;  // records of a page
  std::size_t bytes = kPageBytes;
  std::size_t pull = kPageBytes;
};

// A moment in the directory entries of a partition, as long as the process of the shard lives.
struct PlacesMark {
  std::uint64_t journal = 0;  // of the process and the move
  std::uint64_t entries = 0;  // that were added since the journal began
  friend bool operator==(const PlacesMark&, const PlacesMark&) = default;
};
struct PlacePage {
  std::vector<Placed> places = {};
  std::optional<DocId> next = {};  // nothing: the last page
  // Entries that are added later are those since this mark. A page without it says nothing of that.
  std::optional<PlacesMark> mark = {};
  bool is_rest = false;  // the page has the entries since PlacesRequest::since, and no others
};
// The directory entries of entities that are at home in the partition, by id.
struct PlacesRequest {
  using Reply = PlacePage;
  MoveName move = {};
  std::optional<DocId> after = {};
  std::size_t limit = 5'000;
  // Only entries that were added since. A shard that does not know the mark answers with the first
  // page of all, and its mark.
  std::optional<PlacesMark> since = {};
};

struct Forgotten {
  bool more = false;
};
// Ends the move at this shard. One that does not own the partition removes a piece of what it holds
// of it; repeat while there is more. With `keep` the shard only stops keeping its log.
struct EndMoveRequest {
  using Reply = Forgotten;
  MoveName move = {};
  bool keep = false;
  std::size_t limit = 500;  // entities removed
};

// ---- Repartitions: the entities of some partitions of a shard, the members, are divided among
// them by new centroids (router/repartition.h). A shard remembers the newest one that it takes part
// in, and fails requests of older ones, and of one that is over, with kFailedPrecondition.

// See index/draw.h. A node that says nothing of partitions and lots is older than they are.
struct VectorSample {
  std::vector<std::vector<float>> vectors = {};
  std::vector<index::PartitionId> partitions = {};  // of each
  std::vector<std::uint64_t> lots = {};             // the same
  std::uint64_t below = 0;
};
// Asks for vectors of the partitions, drawn by a hash of the ids.
struct SampleRequest {
  using Reply = VectorSample;
  Partitions partitions = {};
  std::string space = {};
  std::size_t limit = 2'000;  // entities that are looked at
  std::uint64_t seed = 0;
};

struct Divided {
  bool done = false;         // every entity was looked at
  std::uint64_t looked = 0;  // so far
  std::uint64_t moved = 0;
  friend bool operator==(const Divided&, const Divided&) = default;
};
// Begins a repartition: from now on requests about one of the members are answered about all. With
// a limit above 0, gives the next entities to the member whose centroid is the nearest; the shard
// must own all members from `epoch` on.
struct DivideRequest {
  using Reply = Divided;
  std::uint64_t id = 0;
  Partitions members = {};
  Hash128 centroids = {};  // a blob of the shard
  std::uint64_t epoch = 0;
  std::size_t limit = 0;
};

struct Labels {
  std::vector<DocId> ids = {};
  std::optional<DocId> next = {};  // LabelsRequest::after of the next page; nothing: the last page
};
// The ids in a member, also those of tombstones, when dividing is done.
struct LabelsRequest {
  using Reply = Labels;
  std::uint64_t id = 0;
  index::PartitionId partition{};
  std::optional<DocId> after = {};
  std::size_t limit = 5'000;
};

struct PlacesKept {};
// Writes places over those that are there, or into free ones, unless these are `since` then or
// later.
struct PlaceRequest {
  using Reply = PlacesKept;
  std::vector<Claim> claims = {};
  std::uint64_t since = 0;  // a revision of the repartition's record, which only grow
};

struct DivideEnded {};
// Ends the repartition at this shard, which must know owners of all members from `epoch` on.
struct EndDivideRequest {
  using Reply = DivideEnded;
  std::uint64_t id = 0;
  Partitions members = {};
  std::uint64_t epoch = 0;
};

// Milliseconds that a shard works for a partition in each second, averaged over the last minutes.
// Partitions without work are left out.
using PartitionLoads = std::map<index::PartitionId, double>;

struct StatsReply {
  index::ShardStats stats = {};
  index::PartitionSizes sizes = {};
  PartitionLoads loads = {};
};
struct StatsRequest {
  using Reply = StatsReply;
  bool sizes = false;  // of partitions, too, for which every entity is looked at
};

struct CheckReply {
  index::CheckReport report = {};
};
// Compares the shard's indexes with its truth; see index::Shard::check(). Takes long.
struct CheckRequest {
  using Reply = CheckReply;
};

struct Health {
  Lsn last_lsn = 0;
  std::uint64_t epoch = 0;     // the highest of any partition that it knows an owner of
  std::size_t partitions = 0;  // owned
  Hash128 shard = {};          // see CallOptions::shard
};
struct HealthRequest {
  using Reply = Health;
};

// Bytes under their hash: centroids and other things that every router needs and that never change.
struct BlobStored {};
struct StoreBlobRequest {
  using Reply = BlobStored;
  Hash128 hash = {};  // kInvalidArgument if it is not the hash of the bytes
  std::string bytes = {};
};
struct Blob {
  std::optional<std::string> bytes = {};
};
struct ReadBlobRequest {
  using Reply = Blob;
  Hash128 hash = {};
};

using Request =
    std::variant<OpenSession, WriteRequest, AssignRequest, ClaimRequest, LocateRequest, GetRequest,
                 StatisticsRequest, FindRequest, SumRequest, PresentRequest, HeadsRequest,
                 EdgesRequest, ListRequest, ReadLogRequest, DigestRequest, StatsRequest,
                 HealthRequest, StoreBlobRequest, ReadBlobRequest, ScopeRequest, AboutRequest,
                 CheckRequest, NearRequest, ReceiveRequest, TakeRequest, FollowRequest, CopyRequest,
                 PlacesRequest, EndMoveRequest, PullRequest, SampleRequest, DivideRequest,
                 LabelsRequest, PlaceRequest, EndDivideRequest>;

using Response =
    std::variant<SessionOpened, WriteReply, Assigned, Places, Entities, StatisticsReply, FindReply,
                 Sums, Presented, Heads, EdgeLists, index::ScanPage, index::LogPage, DigestReply,
                 StatsReply, Health, BlobStored, Blob, AgesInScope, Abouts, CheckReply, NearTexts,
                 MoveProgress, FollowPage, index::ExportPage, PlacePage, Forgotten, VectorSample,
                 Divided, Labels, PlacesKept, DivideEnded>;

// Requests that change nothing, and may be answered from an older state if the caller says so
// (CallOptions::most_behind).
template <typename Asked>
inline constexpr bool kIsRead =
    std::is_same_v<Asked, LocateRequest> || std::is_same_v<Asked, GetRequest> ||
    std::is_same_v<Asked, StatisticsRequest> || std::is_same_v<Asked, FindRequest> ||
    std::is_same_v<Asked, SumRequest> || std::is_same_v<Asked, PresentRequest> ||
    std::is_same_v<Asked, HeadsRequest> || std::is_same_v<Asked, EdgesRequest> ||
    std::is_same_v<Asked, ListRequest> || std::is_same_v<Asked, ScopeRequest> ||
    std::is_same_v<Asked, AboutRequest> || std::is_same_v<Asked, NearRequest>;

// What people call a request: "find". For logs, metrics and traces.
std::string_view kind_of(const Request& request);

}  // namespace kin::router
