/** Exports with the published fields of Delighted and AskNicely, including awkward values. */

export const delightedResponses = `Response ID,Survey Type,Score,Comment,Permalink,Created At,Updated At,Person ID,Person Name,Person Email,Person Phone Number,Tags,Notes,Plan,Delighted Source,What could we do better?
7001,nps,10,"Great, really",https://app.delighted.com/r/a1,2024-03-01 10:00:00 UTC,2024-03-01 10:05:00 UTC,91,Ann Miller,ann@people.test,,"vip, onboarding",Called her back,gold,Email,Nothing
7002,nps,3,"Too
slow",https://app.delighted.com/r/a2,2024-03-02 11:30:00 UTC,,92,,bob@people.test,+15550100,slow,,silver,Email,Speed
7003,nps,8,,https://app.delighted.com/r/a3,2024-03-02 12:00:00 UTC,,93,,,,,,,Web,
7004,nps,9,,https://app.delighted.com/r/a4,2025-03-01 10:00:00 UTC,,91,Ann Miller-Smith,Ann@people.test,,,,platinum,Email,
7005,csat,5,,https://app.delighted.com/r/a5,2024-03-03 10:00:00 UTC,,94,,eve@people.test,,,,,Email,
`;

export const delightedPeople = `ID,Name,Email,Phone Number,Created At,Last Sent At,Last Responded At,Next Survey Scheduled At,Plan
91,Ann Miller-Smith,ann@people.test,,2024-02-01 09:00:00 UTC,2025-02-27 09:00:00 UTC,2025-03-01 10:00:00 UTC,,diamond
95,Zoë Ødegård,zoe@people.test,,2024-02-01 09:00:00 UTC,,,2025-06-01 09:00:00 UTC,gold
96,,,+15550101,2024-02-01 09:00:00 UTC,,,,
`;

export const delightedUnsubscribes = `Person ID,Name,Email,Unsubscribed At
92,,bob@people.test,2024-05-01 08:00:00 UTC
97,Dan,dan@people.test,2024-05-02 08:00:00 UTC
`;

export const delightedBounces = `Person ID,Name,Email,Bounced At
98,Gone,gone@people.test,2024-06-01 08:00:00 UTC
`;

export const askNicelyResponses = `response_id,person_id,contact_id,name,email,answer,answerlabel,data,comment,note,status,dontcontact,sent,opened,responded,lastemailed,created,segment,question_type,published,publishedname,city_c,tags
54120,54121,54121,Aiman Shakeel,aiman@people.test,8,8,,,,,,1614192119,1614192119,1614192119,1614192119,1614192119,,nps,,,Portland,
54122,54123,54123,Rebecca Elm,rebecca@people.test,10,10,,Lovely people,Follow up in May,closed,,1614192119,1614192119,1614195719,1614192119,1614192119,VIP,nps,,,Christchurch,staff;delivery
54124,54125,54125,Quiet One,quiet@people.test,,,,,,,,1614192119,,,1614192119,1614192119,,nps,,,,
54126,54127,54127,Cross One,cross@people.test,1,1,,Never again,,,1,1614192119,1614192119,1614278519,1614192119,1614192119,,nps,,,,delivery
`;

export const askNicelyContacts = `id,lastemailed,active,created,scheduled,name,email,segment,importedattime,source,unsubscribetime,status
15816,1452219376,1,1418350105,0,John B,john@people.test,VIP Customer,1450653162,intercom,,Active
15817,1452219376,0,1418350105,0,Uma,uma@people.test,,1450653162,csv,1452219376,Unsubscribed
15818,1452219376,0,1418350105,0,Hal,hal@people.test,,1450653162,csv,,Email: hard_bounce
15819,1452219376,0,1418350105,0,Des,des@people.test,,1450653162,csv,,Deactivated
`;
