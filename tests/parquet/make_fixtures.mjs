// Makes the Parquet files of this folder with arrow-rs, for features that DuckDB does not write: REQUIRED columns, field
// ids, nanoseconds, pages of version 2, delta encodings, a column without a name, page indexes.
//
//   npm install --prefix /tmp/parquet parquet-wasm@0.8.0 apache-arrow@21.2.0
//   NODE_PATH=/tmp/parquet/node_modules node tests/parquet/make_fixtures.mjs tests/parquet
import { createRequire } from "node:module";
import { writeFileSync } from "node:fs";
import { join } from "node:path";

const require = createRequire(`${process.env.NODE_PATH}/`);
const arrow = require("apache-arrow");
const parquet = require("parquet-wasm");

const folder = process.argv[2] ?? ".";
const kRows = 240;

// A generator of our own, so that the files are the same every time.
let state = 88172645463325252n;
function random() {
  state ^= (state << 13n) & 0xffffffffffffffffn;
  state ^= state >> 7n;
  state ^= (state << 17n) & 0xffffffffffffffffn;
  return Number(state & 0xffffffffn);
}

const words = ["harbour", "lighthouse", "winter", "ice", "mail", "village", "sledge", "norway", "été", "雪"];
const text = (length) => Array.from({ length }, () => words[random() % words.length]).join(" ");
const maybe = (value) => (random() % 5 === 0 ? null : value);
const rows = (make) => Array.from({ length: kRows }, (_, row) => make(row));

function field(name, type, nullable, metadata) {
  return new arrow.Field(name, type, nullable, new Map(Object.entries(metadata ?? {})));
}

// Columns of all kinds that survive the way through arrow: [field, values].
function columns() {
  const inner = new arrow.Struct([
    field("title", new arrow.Utf8(), true),
    field("size", new arrow.Int32(), false),
  ]);
  return [
    [field("id", new arrow.Int64(), false, { "PARQUET:field_id": "17" }), rows((row) => BigInt(row) * 3n)],
    [field("", new arrow.Utf8(), true), rows((row) => maybe(`unnamed ${row % 9}`))],
    [field("text", new arrow.Utf8(), true, { "PARQUET:field_id": "4" }), rows(() => maybe(text(1 + (random() % 30))))],
    [field("word", new arrow.Utf8(), false), rows(() => words[random() % words.length])],
    [field("at", new arrow.TimestampNanosecond(), true), rows((row) => maybe(1700000000123456789n + BigInt(row)))],
    [field("at_utc", new arrow.TimestampMicrosecond("UTC"), false), rows((row) => 1700000000123456n + BigInt(row))],
    [field("day", new arrow.DateDay(), true), rows((row) => maybe(new Date(86400000 * (row * 40))))],
    [field("small", new arrow.Int8(), true), rows(() => maybe((random() % 256) - 128))],
    [field("unsigned", new arrow.Uint32(), false), rows(() => random())],
    [field("real", new arrow.Float64(), true), rows(() => maybe(random() / 1000))],
    [field("single", new arrow.Float32(), false), rows(() => Math.fround(random() / 7))],
    [field("flag", new arrow.Bool(), true), rows(() => maybe(random() % 2 === 0))],
    [field("raw", new arrow.Binary(), true), rows(() => maybe(Uint8Array.from([random() & 255, 255, 0])))],
    [field("fixed", new arrow.FixedSizeBinary(5), false), rows((row) => Uint8Array.from([1, 2, 3, row & 255, random() & 255]))],
    [field("meta", inner, true), rows((row) => maybe({ title: maybe(`title ${row % 50}`), size: row }))],
    [
      field("tags", new arrow.List(field("item", new arrow.Utf8(), true)), true),
      rows(() => maybe(Array.from({ length: random() % 4 }, () => maybe(words[random() % words.length])))),
    ],
    [
      field("pairs", new arrow.List(field("item", inner, true)), false),
      rows(() => Array.from({ length: random() % 3 }, (_, i) => maybe({ title: maybe(`t${i}`), size: i }))),
    ],
  ];
}

function table(chosen) {
  const schema = new arrow.Schema(chosen.map(([one]) => one), new Map([["made", "by hand"]]));
  const children = chosen.map(([one, values]) => {
    // The library takes milliseconds for times: they are built as numbers of their units.
    const isTime = arrow.DataType.isTimestamp(one.type);
    const type = isTime ? new arrow.Int64() : one.type;
    const builder = arrow.makeBuilder({ type, nullValues: [null, undefined] });
    for (const value of values) builder.append(value);
    const built = builder.finish().flush();
    if (!isTime) return built;
    return new arrow.Data(one.type, built.offset, built.length, built.nullCount, built.buffers, built.children);
  });
  const data = arrow.makeData({ type: new arrow.Struct(schema.fields), length: kRows, nullCount: 0, children });
  return new arrow.Table(schema, [new arrow.RecordBatch(schema, data)]);
}

function write(name, chosen, settings) {
  let builder = new parquet.WriterPropertiesBuilder()
    .setCreatedBy("fixtures")
    .setMaxRowGroupSize(100)
    .setWriteBatchSize(16)
    .setDataPageSizeLimit(400);
  builder = settings(builder);
  const made = parquet.Table.fromIPCStream(arrow.tableToIPC(table(chosen), "stream"));
  writeFileSync(join(folder, name), parquet.writeParquet(made, builder.build()));
}

const { Compression, Encoding, WriterVersion, EnabledStatistics } = parquet;
write("all_v1.parquet", columns(), (b) => b.setCompression(Compression.SNAPPY).setWriterVersion(WriterVersion.V1));
write("all_v2.parquet", columns(), (b) => b.setCompression(Compression.ZSTD).setWriterVersion(WriterVersion.V2));
write("plain_v2.parquet", columns(), (b) =>
  b.setCompression(Compression.UNCOMPRESSED).setWriterVersion(WriterVersion.V2).setDictionaryEnabled(false)
    .setEncoding(Encoding.PLAIN).setStatisticsEnabled(EnabledStatistics.Page));
const numbers = columns().filter(([one]) => ["id", "unsigned", "small", "at", "day"].includes(one.name));
write("delta_numbers.parquet", numbers, (b) =>
  b.setCompression(Compression.GZIP).setDictionaryEnabled(false).setEncoding(Encoding.DELTA_BINARY_PACKED));
const texts = columns().filter(([one]) => ["", "text", "word", "tags"].includes(one.name));
write("delta_length.parquet", texts, (b) =>
  b.setCompression(Compression.BROTLI).setDictionaryEnabled(false).setEncoding(Encoding.DELTA_LENGTH_BYTE_ARRAY));
write("delta_bytes.parquet", texts, (b) =>
  b.setCompression(Compression.LZ4_RAW).setDictionaryEnabled(false).setEncoding(Encoding.DELTA_BYTE_ARRAY));
const reals = columns().filter(([one]) => ["real", "single"].includes(one.name));
write("split.parquet", reals, (b) =>
  b.setCompression(Compression.SNAPPY).setDictionaryEnabled(false).setEncoding(Encoding.BYTE_STREAM_SPLIT));
