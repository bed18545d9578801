#include <dlfcn.h>
#include <libpq-fe.h>

#include <charconv>
#include <memory>

#include "base/library_call.h"
#include "transcribe/inputs/query/query.h"

namespace tutti {
namespace {

/// The part of libpq that is used, looked up once.
struct Postgres {
  decltype(&PQconnectdb) connect = nullptr;
  decltype(&PQfinish) finish = nullptr;
  decltype(&PQstatus) status = nullptr;
  decltype(&PQerrorMessage) error = nullptr;
  decltype(&PQexec) exec = nullptr;
  decltype(&PQsendQuery) send = nullptr;
  decltype(&PQsetSingleRowMode) row_by_row = nullptr;
  decltype(&PQgetResult) next = nullptr;
  decltype(&PQresultStatus) result_status = nullptr;
  decltype(&PQresultErrorMessage) result_error = nullptr;
  decltype(&PQclear) clear = nullptr;
  decltype(&PQntuples) rows = nullptr;
  decltype(&PQnfields) fields = nullptr;
  decltype(&PQfname) name = nullptr;
  decltype(&PQftype) type = nullptr;
  decltype(&PQgetisnull) is_null = nullptr;
  decltype(&PQgetvalue) value = nullptr;
  decltype(&PQgetlength) length = nullptr;
};

const Postgres* loaded_postgres() {
  static const Postgres* const postgres = []() -> const Postgres* {
    static Postgres found;
    void* library = ::dlopen("libpq.so.5", RTLD_NOW | RTLD_LOCAL);
    const bool whole =
        library && look_up(library, "PQconnectdb", found.connect) && look_up(library, "PQfinish", found.finish) &&
        look_up(library, "PQstatus", found.status) && look_up(library, "PQerrorMessage", found.error) &&
        look_up(library, "PQexec", found.exec) && look_up(library, "PQsendQuery", found.send) &&
        look_up(library, "PQsetSingleRowMode", found.row_by_row) && look_up(library, "PQgetResult", found.next) &&
        look_up(library, "PQresultStatus", found.result_status) &&
        look_up(library, "PQresultErrorMessage", found.result_error) && look_up(library, "PQclear", found.clear) &&
        look_up(library, "PQntuples", found.rows) && look_up(library, "PQnfields", found.fields) &&
        look_up(library, "PQfname", found.name) && look_up(library, "PQftype", found.type) &&
        look_up(library, "PQgetisnull", found.is_null) && look_up(library, "PQgetvalue", found.value) &&
        look_up(library, "PQgetlength", found.length);
    return whole ? &found : nullptr;
  }();
  return postgres;
}

std::string one_line(std::string text) {
  while (!text.empty() && (text.back() == '\n' || text.back() == ' ')) text.pop_back();
  for (char& c : text)
    if (c == '\n') c = ' ';
  return text;
}

/// Types by their object ids, which are part of the server's protocol (pg_type.dat).
ManifestValue value_of(const std::string& text, Oid type) {
  constexpr Oid kBool = 16, kInt8 = 20, kInt2 = 21, kInt4 = 23, kFloat4 = 700, kFloat8 = 701, kNumeric = 1700;
  const auto whole = [&](auto number) -> ManifestValue {
    const auto read = std::from_chars(text.data(), text.data() + text.size(), number);
    if (read.ec != std::errc() || read.ptr != text.data() + text.size()) return text;
    return number;
  };
  switch (type) {
    case kBool: return text == "t";
    case kInt2:
    case kInt4:
    case kInt8: return whole(std::int64_t{});
    case kFloat4:
    case kFloat8:
    case kNumeric: return whole(double{});
    default: return text;
  }
}

/// One connection with one query on its way.
class Session {
 public:
  Session(const Postgres& library, const std::string& connection)
      : pq_(library), connection_(library.connect(connection.c_str()), library.finish) {}

  Result<void> begin(const std::string& query) {
    if (!connection_ || pq_.status(connection_.get()) != CONNECTION_OK)
      return fail(Fault::missing, "PostgreSQL: " + last_error(), "Try the connection with psql");
    const Answer begun(pq_.exec(connection_.get(), "BEGIN READ ONLY"), pq_.clear);
    if (pq_.result_status(begun.get()) != PGRES_COMMAND_OK || !pq_.send(connection_.get(), query.c_str()))
      return fail(Fault::missing, "PostgreSQL: " + last_error());
    pq_.row_by_row(connection_.get());
    return {};
  }

  Result<void> rows(const OnAsset& on_asset) {
    while (const Answer answer{pq_.next(connection_.get()), pq_.clear}) {
      const auto status = pq_.result_status(answer.get());
      if (pq_.status(connection_.get()) != CONNECTION_OK)
        return fail(Fault::unavailable, "PostgreSQL: " + last_error());
      if (status != PGRES_SINGLE_TUPLE && status != PGRES_TUPLES_OK)
        return fail(Fault::usage, "PostgreSQL: " + one_line(pq_.result_error(answer.get())),
                    "Expected one query that answers with rows");
      for (int row = 0; row < pq_.rows(answer.get()); ++row)
        if (!on_asset(asset_of(answer.get(), row))) return {};
    }
    return {};
  }

 private:
  using Answer = std::unique_ptr<PGresult, decltype(&PQclear)>;

  ManifestAsset asset_of(const PGresult* answer, int row) const {
    ManifestAsset asset;
    for (int column = 0; column < pq_.fields(answer); ++column) {
      ManifestField field{pq_.name(answer, column), {}};
      if (!pq_.is_null(answer, row, column)) {
        const auto length = static_cast<std::size_t>(pq_.length(answer, row, column));
        field.value = value_of(std::string(pq_.value(answer, row, column), length), pq_.type(answer, column));
      }
      asset.push_back(std::move(field));
    }
    return asset;
  }
  std::string last_error() const { return connection_ ? one_line(pq_.error(connection_.get())) : "no memory"; }

  const Postgres& pq_;
  std::unique_ptr<PGconn, decltype(&PQfinish)> connection_;
};

}  // namespace

Result<void> query_postgres(const std::string& connection, const std::string& query, const OnAsset& on_asset) {
  const Postgres* library = loaded_postgres();
  if (!library)
    return fail(Fault::unsupported, "libpq.so.5 cannot be loaded, and PostgreSQL needs it",
                "Install it (Debian: apt-get install libpq5)");
  Session session(*library, connection);
  if (auto begun = session.begin(query); !begun) return begun;
  return session.rows(on_asset);
}

}  // namespace tutti
