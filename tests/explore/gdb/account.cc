// A lost update: both threads read the balance before one of them writes it.
#include <thread>

struct Account {
  int balance = 100;
};
static Account account;

static void deposit(int amount) {
  int seen = account.balance;
  account.balance = seen + amount;  // the racing write
}

int main() {
  std::thread first(deposit, 50);
  std::thread second(deposit, -30);
  first.join();
  second.join();
  return account.balance == 120 ? 0 : 1;
}
