// The requests to a shard and their replies, as messages of node.proto.
#pragma once

#include "router/requests.h"
#include "router/shard_client.h"
#include "rpc/wire/index_messages.h"

KIN_EMPTY_MESSAGE(router::OpenSession, OpenSession)
KIN_MESSAGE(router::SessionOpened, SessionOpened, session)
KIN_MESSAGE(index::RequestId, RequestId, session, sequence)
KIN_MESSAGE(router::WriteRequest, WriteRequest, id, mutations, partitions, ages)
KIN_MESSAGE(router::WriteReply, WriteReply, outcomes, repeats, forgotten)
KIN_MESSAGE(router::AssignRequest, AssignRequest, owners, divided)
KIN_EMPTY_MESSAGE(router::Assigned, Assigned)

KIN_MESSAGE(router::Claim, Claim, id, home, partition)
KIN_MESSAGE(router::ClaimRequest, ClaimRequest, claims)
KIN_MESSAGE(router::Locate, Locate, id, home)
KIN_MESSAGE(router::LocateRequest, LocateRequest, entities)
KIN_MESSAGE(router::Places, Places, partitions)

KIN_MESSAGE(index::Want, Want, vectors, summaries, as_of)
KIN_MESSAGE(router::GetRequest, GetRequest, ids, partitions, want)
KIN_MESSAGE(router::Entities, Entities, entities)
KIN_MESSAGE(router::StatisticsRequest, StatisticsRequest, query)
KIN_MESSAGE(router::StatisticsReply, StatisticsReply, text, state)
KIN_MESSAGE(router::SumRequest, SumRequest, query, joined)
KIN_MESSAGE(router::Sums, Sums, count, facets)
KIN_MESSAGE(index::SnippetOptions, SnippetOptions, length)
KIN_MESSAGE(index::TermExplanation, TermExplanation, term, score, frequency, documents,
            inverse_frequency)
KIN_MESSAGE(index::TextExplanation, TextExplanation, score, length, average_length, terms)
KIN_MESSAGE(router::PresentRequest, PresentRequest, documents, partitions, text, snippets, explain,
            statistics)
KIN_MESSAGE(router::Presented, Presented, documents, snippets, explanations)
KIN_MESSAGE(router::Show, Show, text, snippets, most, explain)
KIN_MESSAGE(router::FindRequest, FindRequest, query, statistics, state, show)
KIN_MESSAGE(router::FindReply, FindReply, found, changed, shown, presented)

KIN_MESSAGE(router::HeadsRequest, HeadsRequest, ids, partitions)
KIN_MESSAGE(router::Heads, Heads, heads)
KIN_MESSAGE(router::EdgesRequest, EdgesRequest, nodes, direction, filter, limit, partitions)
KIN_MESSAGE(router::EdgeLists, EdgeLists, edges)

KIN_MESSAGE(router::ListRequest, ListRequest, partition, after, limit, want)
KIN_MESSAGE(index::ScanPage, ScanPage, entities, next)
KIN_MESSAGE(index::LogRequest, LogRequest, after, partitions, limit, bytes)
KIN_MESSAGE(router::ReadLogRequest, ReadLogRequest, log)
KIN_MESSAGE(index::LogPage, LogPage, records, up_to)
KIN_MESSAGE(router::DigestRequest, DigestRequest, partition, kept, urgent)
KIN_MESSAGE(router::DigestReply, DigestReply, digest, places, lsn)
KIN_MESSAGE(router::StatsRequest, StatsRequest, sizes)
KIN_MESSAGE(router::StatsReply, StatsReply, stats, sizes, loads)
KIN_EMPTY_MESSAGE(router::HealthRequest, HealthRequest)
KIN_MESSAGE(router::Health, Health, last_lsn, epoch, partitions, shard)
KIN_MESSAGE(router::StoreBlobRequest, StoreBlobRequest, hash, bytes)
KIN_EMPTY_MESSAGE(router::BlobStored, BlobStored)
KIN_MESSAGE(router::ReadBlobRequest, ReadBlobRequest, hash)
KIN_MESSAGE(router::Blob, Blob, bytes)

KIN_MESSAGE(router::ScopeRequest, ScopeRequest, ids, scope)
KIN_MESSAGE(router::AgesInScope, AgesInScope, ages)
KIN_MESSAGE(router::AboutRequest, AboutRequest, ids, partitions, want)
KIN_MESSAGE(index::About, About, entity, edges, fragments, edge_fragments)
KIN_MESSAGE(router::Abouts, Abouts, entities)
KIN_EMPTY_MESSAGE(router::CheckRequest, CheckRequest)
KIN_MESSAGE(index::CheckReport, CheckReport, entities, edges, fragments, text_documents, vectors,
            faults)
KIN_MESSAGE(router::CheckReply, CheckReply, report)

KIN_MESSAGE(index::TextSketch, TextSketch, shingles, keys)
KIN_MESSAGE(router::NearRequest, NearRequest, sketches, partitions)
KIN_MESSAGE(index::NearText, NearText, id, similarity, shared, age)
KIN_MESSAGE(router::NearTexts, NearTexts, texts)
KIN_MESSAGE(router::MoveName, MoveName, id, partition)
KIN_MESSAGE(router::MoveProgress, MoveProgress, ready, copied, next, lsn, entities, bytes)
KIN_MESSAGE(router::ReceiveRequest, ReceiveRequest, move, limit)
KIN_MESSAGE(router::Placed, Placed, id, partition, since)
KIN_MESSAGE(router::TakeRequest, TakeRequest, move, records, places, progress)
KIN_MESSAGE(router::FollowRequest, FollowRequest, move, after, limit, bytes)
KIN_MESSAGE(router::FollowPage, FollowPage, records, up_to, last, owned)
KIN_MESSAGE(router::CopyRequest, CopyRequest, move, after, limit, bytes)
KIN_MESSAGE(index::ExportPage, ExportPage, records, next)
KIN_MESSAGE(router::PlacesMark, PlacesMark, journal, entries)
KIN_MESSAGE(router::PlacesRequest, PlacesRequest, move, after, limit, since)
KIN_MESSAGE(router::PlacePage, PlacePage, places, next, mark, is_rest)
KIN_MESSAGE(router::PullRequest, PullRequest, move, source, shard, limit, bytes, pull)
KIN_MESSAGE(router::EndMoveRequest, EndMoveRequest, move, keep, limit)
KIN_MESSAGE(router::Forgotten, Forgotten, more)

KIN_MESSAGE(router::SampleRequest, SampleRequest, partitions, space, limit, seed)
KIN_MESSAGE(router::VectorSample, VectorSample, vectors, partitions, lots, below)
KIN_MESSAGE(router::DivideRequest, DivideRequest, id, members, centroids, epoch, limit)
KIN_MESSAGE(router::Divided, Divided, done, looked, moved)
KIN_MESSAGE(router::LabelsRequest, LabelsRequest, id, partition, after, limit)
KIN_MESSAGE(router::Labels, Labels, ids, next)
KIN_MESSAGE(router::PlaceRequest, PlaceRequest, claims, since)
KIN_EMPTY_MESSAGE(router::PlacesKept, PlacesKept)
KIN_MESSAGE(router::EndDivideRequest, EndDivideRequest, id, members, epoch)
KIN_EMPTY_MESSAGE(router::DivideEnded, DivideEnded)

KIN_MESSAGE(router::Refused, Refused, epoch)
KIN_ONE_OF(router::Request, Request, open_session, write, assign, claim, locate, get, statistics,
           find, sum, present, heads, edges, list, read_log, digest, stats, health, store_blob,
           read_blob, scope, about, check, near, receive, take, follow, copy, places, end_move,
           pull, sample, divide, labels, place, end_divide)
KIN_ONE_OF(router::Response, Response, session_opened, written, assigned, places, entities,
           statistics, found, sums, presented, heads, edges, page, log, digest, stats, health,
           blob_stored, blob, in_scope, abouts, checked, near, progress, followed, copied, placed,
           forgotten, sample, divided, labels, places_kept, divide_ended)
