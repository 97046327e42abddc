// The types of rooms below the router, as messages of index.proto.
#pragma once

#include "index/find.h"
#include "index/graph.h"
#include "index/mutation.h"
#include "index/present.h"
#include "index/query.h"
#include "index/record.h"
#include "index/shard.h"
#include "rpc/wire/fields.h"

namespace kin::rpc {

template <>
inline constexpr std::optional<index::Effect> kLast<index::Effect> = index::Effect::kOldEpoch;
template <>
inline constexpr std::optional<index::Direction> kLast<index::Direction> = index::Direction::kBoth;
template <>
inline constexpr std::optional<index::TextLeg::Syntax> kLast<index::TextLeg::Syntax> =
    index::TextLeg::Syntax::kPlain;
template <>
inline constexpr std::optional<index::Fusion> kLast<index::Fusion> = index::Fusion::kRrf;
template <>
inline constexpr std::optional<index::DocKind> kLast<index::DocKind> =
    index::DocKind::kEdgeFragment;
template <>
inline constexpr std::optional<index::LegKind> kLast<index::LegKind> = index::LegKind::kGraph;

}  // namespace kin::rpc

KIN_MESSAGE(Version, Version, epoch, lsn)
KIN_MESSAGE(index::Validity, Validity, from, until)
KIN_ONE_OF(index::AttributeValue, AttributeValue, text, integer, number, truth)
KIN_MESSAGE(index::Attribute, Attribute, name, value)
KIN_MESSAGE(index::SpaceVector, SpaceVector, space, values)
KIN_MESSAGE(index::Entity, Entity, id, key, source, title, text, tags, attributes, vectors, valid,
            summaries)
KIN_MESSAGE(index::EntityHead, EntityHead, number, partition, assigned, version, valid)
KIN_MESSAGE(index::StoredEntity, StoredEntity, head, entity)
KIN_MESSAGE(index::EdgeId, EdgeId, from, name, to, since)
KIN_MESSAGE(index::Edge, Edge, id, until, weight, summary)
KIN_MESSAGE(index::StoredEdge, StoredEdge, edge, version, number)
KIN_MESSAGE(index::Fragment, Fragment, time, text)
KIN_MESSAGE(index::StoredFragment, StoredFragment, fragment, version, number)
KIN_MESSAGE(index::EntityFragmentRef, EntityFragmentRef, id, fragment)
KIN_MESSAGE(index::EdgeFragmentRef, EdgeFragmentRef, edge, fragment)
KIN_ONE_OF(index::StoredDocument, StoredDocument, entity, edge, entity_fragment, edge_fragment)

KIN_MESSAGE(index::PutEntity, PutEntity, entity, partition)
KIN_MESSAGE(index::RemoveEntity, RemoveEntity, id)
KIN_MESSAGE(index::AssignPartition, AssignPartition, id, partition)
KIN_MESSAGE(index::AssignOwner, AssignOwner, partition, epoch, owned)
KIN_MESSAGE(index::PutEdge, PutEdge, edge)
KIN_MESSAGE(index::SetEdges, SetEdges, from, name, edges)
KIN_MESSAGE(index::CloseEdge, CloseEdge, from, name, to, at)
KIN_MESSAGE(index::RemoveEdge, RemoveEdge, edge)
KIN_MESSAGE(index::AddFragment, AddFragment, id, fragment)
KIN_MESSAGE(index::AddEdgeFragment, AddEdgeFragment, from, name, to, fragment)
KIN_ONE_OF(index::Mutation, Mutation, put_entity, remove_entity, assign_partition, assign_owner,
           put_edge, set_edges, close_edge, remove_edge, add_fragment, add_edge_fragment)
KIN_MESSAGE(index::Outcome, Outcome, effect, number, version)
KIN_MESSAGE(index::Repeat, Repeat, mutation, of, similarity)

KIN_MESSAGE(index::EntityRecord, EntityRecord, entity, deleted, version, partition, assigned)
KIN_MESSAGE(index::EdgeRecord, EdgeRecord, edge, deleted, version)
KIN_MESSAGE(index::FragmentRecord, FragmentRecord, id, name, to, fragment, content, deleted,
            version)
KIN_MESSAGE(index::OwnerRecord, OwnerRecord, partition, epoch)
KIN_ONE_OF(index::Record, Record, entity, edge, fragment, owner)

KIN_MESSAGE(index::EdgeFilter, EdgeFilter, names, as_of, during, min_weight, max_weight)
KIN_MESSAGE(index::GraphEdge, GraphEdge, id, until, weight)
KIN_MESSAGE(index::Filter, Filter, name, value)
KIN_MESSAGE(index::DocIdentity, DocIdentity, kind, id, name, to, time, content)
KIN_MESSAGE(index::Scope, Scope, filters, as_of, kinds, partitions, among)
KIN_MESSAGE(index::TextLeg, TextLeg, query, syntax, fuzzy)
KIN_MESSAGE(index::VectorLeg, VectorLeg, space, vector, recall, exact)
KIN_MESSAGE(index::FusionOptions, FusionOptions, how, alpha, floor, graph, depth)
KIN_MESSAGE(index::Expansion, Expansion, hops, direction, edges, decay, most)
KIN_MESSAGE(index::GraphStart, GraphStart, from)
// `statistics` points to what travels beside the query (FindRequest).
KIN_DESCRIPTION(index::ShardQuery, ShardQuery,
                auto& [text, vector, graph, scope, fusion, expand, k, offset, count, facets,
                       words_only, validity_at, statistics] = domain;
                (void)statistics; KIN_EACH(KIN_MEMBER, text, vector, graph, scope, fusion, expand,
                                           k, offset, count, facets, words_only, validity_at))
KIN_MESSAGE(index::TextStatistics, TextStatistics, documents, total_length, frequencies)

KIN_MESSAGE(index::LegHit, LegHit, document, score, rank)
KIN_MESSAGE(index::LegFound, LegFound, leg, hits)
KIN_MESSAGE(index::GraphTrace, GraphTrace, by, hops, edges)
KIN_MESSAGE(index::FacetCount, FacetCount, value, count)
KIN_MESSAGE(index::FacetCounts, FacetCounts, name, values)
KIN_MESSAGE(index::Findings, Findings, candidates, ages, legs, traces, count, facets)
KIN_MESSAGE(index::TextRange, TextRange, begin, end)
KIN_MESSAGE(index::HitSnippet, HitSnippet, field, part, begin, ends_field, marks)

KIN_MESSAGE(index::Counters, Counters, last_lsn, trimmed, numbers, names, entities, edges,
            fragments)
KIN_MESSAGE(index::VectorStats, VectorStats, vectors, pending, deleted, cells, bytes)
KIN_MESSAGE(index::SpaceStats, SpaceStats, name, generation, vectors, building)
KIN_MESSAGE(kv::StoreUsage, StoreUsage, keys, write_buffer_bytes, table_index_bytes,
            block_cache_bytes, disk_bytes)
KIN_MESSAGE(index::Ownership, Ownership, epoch, owned)
KIN_MESSAGE(index::ShardStats, ShardStats, counters, text_documents, text_bytes, text_segments,
            spaces, truth, last_lsn, checkpoint_lsn, followers, owners)
