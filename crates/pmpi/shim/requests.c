/* What requests stand for.
 *
 * Before a call that completes requests, what they stand for is taken out of the table, and
 * put back where they did not complete: as soon as one has, MPI may give its handle to the
 * request of another thread. Sends that are complete at once may share one handle; of these
 * any will do. */
#include "shim.h"

#include <pthread.h>

enum { BUCKETS = 4096 };

static struct carried *buckets[BUCKETS], *adopted;
static pthread_mutex_t lock = PTHREAD_MUTEX_INITIALIZER;

static struct carried **bucket(MPI_Request request)
{
    /* An address or a small number. */
    uintptr_t key = (uintptr_t)request;
    return &buckets[(key ^ key >> 7 ^ key >> 19) % BUCKETS];
}

void keep(struct carried *it, MPI_Request request)
{
    it->request = request;
    pthread_mutex_lock(&lock);
    struct carried **first = bucket(request);
    it->next = *first;
    *first = it;
    pthread_mutex_unlock(&lock);
}

struct carried *take(MPI_Request request)
{
    if (request == MPI_REQUEST_NULL)
        return NULL;
    pthread_mutex_lock(&lock);
    struct carried **at = bucket(request);
    while (*at && (*at)->request != request)
        at = &(*at)->next;
    struct carried *found = *at;
    if (found)
        *at = found->next;
    pthread_mutex_unlock(&lock);
    return found;
}

/* MPI frees a request when it is done with it, and tells nobody. But a short message has to be
 * copied to where the program expects it: so it is freed here, when it is there. */
void adopt(struct carried *it)
{
    pthread_mutex_lock(&lock);
    it->next = adopted;
    __atomic_store_n(&adopted, it, __ATOMIC_RELEASE);
    pthread_mutex_unlock(&lock);
}

void look_after_adopted(void)
{
    if (!__atomic_load_n(&adopted, __ATOMIC_ACQUIRE))
        return;
    pthread_mutex_lock(&lock);
    struct carried *all = adopted;
    adopted = NULL;
    pthread_mutex_unlock(&lock);
    while (all) {
        struct carried *it = all;
        all = it->next;
        int is_there;
        MPI_Status status;
        PMPI_Test(&it->request, &is_there, &status);
        if (!is_there) {
            adopt(it);
            continue;
        }
        if (it->kind == RECEIVES)
            arrived(it, &status);
        release(it);
    }
}
