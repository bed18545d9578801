#include "jobs/postgres/postgres_store.h"

#include <unistd.h>

#include "base/environment.h"
#include "base/random/kernel_random.h"
#include "base/try.h"
#include "jobs/postgres/schema.h"

namespace tutti {

using namespace postgres;

namespace {

/// For people who look at attempts: the machine and the process; and for the store a part that never comes again.
std::string name_of_process() {
  const std::string host = host_name();
  return (host.empty() ? "unknown" : host) + "." + std::to_string(::getpid()) + "." + random_token(8);
}

}  // namespace

PostgresStore::PostgresStore(Connection first, const StoreOptions& options)
    : transactions_(options.url.server(), options.url.text(), std::move(first), *options.clock),
      retries_(options.retries),
      owner_(name_of_process()) {}

Result<void> PostgresStore::begin() {
  return transactions_.look([](Transaction&) {});
}

PostgresStore::~PostgresStore() {
  if (!is_registered_) return;
  transactions_.end_patience();
  (void)transactions_.change([&](Transaction& transaction) {  // else its leases run out
    transaction.run("DELETE FROM tutti_owners WHERE name = $1", owner_);
  });
}

Result<std::unique_ptr<JobStore>> open_postgres_store(const StoreOptions& options, bool make) {
  const std::string name = options.url.text();
  auto connection = Connection::open(options.url.server());
  if (!connection) return fail_in(name, connection.error());
  if (!make) {
    const auto there = TRY(has_store(*connection, name));
    if (!there) return nullptr;
  }
  TRY(migrate(*connection, name));
  auto store = std::make_unique<PostgresStore>(std::move(*connection), options);
  TRY(store->begin());
  return store;
}

}  // namespace tutti
