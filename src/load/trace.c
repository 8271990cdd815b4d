/* SPDX-License-Identifier: Apache-2.0
 * Tells the caller what each thread and stream spent its time on. */
#include "src/base/clock.h"
#include "src/load/internal.h"

void pfi_trace_span(const pinfold_loader *loader, const char *name,
                    pinfold_lane lane, int32_t lane_index, uint64_t start_ns,
                    const struct pfi_meta *meta, pinfold_status status)
{
    const pinfold_trace *const trace = &loader->trace;

    if (!trace->event)
        return;
    trace->event(trace->cookie, &(pinfold_trace_event){
                                    .struct_size = sizeof(pinfold_trace_event),
                                    .name = name,
                                    .start_ns = start_ns,
                                    .end_ns = pfi_now_ns(),
                                    .epoch = meta ? meta->epoch : -1,
                                    .batch = meta ? meta->number : -1,
                                    .sample = -1,
                                    .lane = lane,
                                    .lane_index = lane_index,
                                    .status = status,
                                });
}

void pfi_trace_job(const pinfold_loader *loader, const struct pfi_job *job,
                   int32_t worker)
{
    const pinfold_trace *const trace = &loader->trace;
    const struct pfi_meta *const meta = &job->slot->meta;
    pinfold_trace_event event = {
        .struct_size = sizeof(event),
        .name = "read",
        .start_ns = job->start_ns,
        .end_ns = job->start_ns + job->times.read_ns,
        .epoch = meta->epoch,
        .batch = meta->number,
        .sample = job->index,
        .lane = worker < 0 ? PINFOLD_LANE_CALLER : PINFOLD_LANE_WORKER,
        .lane_index = worker < 0 ? 0 : worker,
        .status = job->read ? PINFOLD_OK : job->status,
    };

    if (!trace->event)
        return;
    if (job->idle_ns)
        trace->event(trace->cookie, &(pinfold_trace_event){
                                        .struct_size = sizeof(event),
                                        .name = "wait",
                                        .start_ns = job->idle_ns,
                                        .end_ns = job->start_ns,
                                        .epoch = -1,
                                        .batch = -1,
                                        .sample = -1,
                                        .lane = event.lane,
                                        .lane_index = event.lane_index,
                                    });
    trace->event(trace->cookie, &event);
    if (!job->read)
        return;
    event.name = "make";
    event.status = job->status;
    event.start_ns = event.end_ns;
    event.end_ns = job->end_ns;
    event.decode_ns = job->times.decode_ns;
    event.transform_ns = job->times.transform_ns;
    trace->event(trace->cookie, &event);
}
