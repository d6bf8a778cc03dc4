"""One call to every writing endpoint that a client starts with, and to two that read."""

import json
import os
from io import BytesIO
from uuid import UUID

from client.api.answering import answer_shared
from client.api.contacts import save_contact
from client.api.responses import get_nps, list_responses
from client.api.sending import send_survey, take_bounce
from client.client import Client
from client.models import (
    Answer,
    GetNpsProperty,
    ListResponsesCategory,
    NewContact,
    NewContactPropertiesType0,
    SendRequest,
    SendRequestContactsItem,
)
from client.types import File

client = Client(
    base_url=os.environ["ASKBACK_URL"], headers={"X-API-Key": os.environ["ASKBACK_KEY"]}
)
survey_id = UUID(os.environ["SURVEY_ID"])

plan = NewContactPropertiesType0()
plan["plan"] = "pro"
saved = save_contact.sync(
    client=client,
    body=NewContact(
        email="ada@example.com", survey_id=survey_id, name=None, properties=plan
    ),
)
sent = send_survey.sync(
    survey_id,
    client=client,
    dry_run=True,
    body=SendRequest(contacts=[SendRequestContactsItem(email="grace@example.com")]),
)
link = answer_shared.sync(
    os.environ["SHARE_ID"],
    client=client,
    body=Answer(score=9, comment="Setup took five minutes."),
)
listed = list_responses.sync(
    client=client, date_from="2026-04-01", limit=10, category=ListResponsesCategory.PROMOTER
)
nps = get_nps.sync(client=client)
filters = GetNpsProperty()
filters["property.plan"] = "pro"
filtered = get_nps.sync(client=client, property_=filters)
message = File(payload=BytesIO(b"From: ann@example.com\r\nSubject: not a report\r\n\r\nHello\r\n"))
returned = take_bounce.sync(client=client, body=message)
assert returned.data.matched is False

print(
    json.dumps(
        {
            "contact": saved.data.email,
            "results": [result.status for result in sent.data.results],
            "score": link.data.score,
            "comments": [response.comment for response in listed.data],
            "promoters": nps.data.promoters,
            "promoters_on_plan": filtered.data.promoters,
        }
    )
)
