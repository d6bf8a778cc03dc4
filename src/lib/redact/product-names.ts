/** Products that comments speak of. None of them is also a name that people have. */
export const productNames: ReadonlySet<string> = new Set(
  `acrobat adobe airbnb amazon android apache asana asus atlassian azure bing bitbucket bluetooth chatgpt chrome
  confluence copilot docker docusign dropbox ebay edge ethernet evernote excel expedia facebook fedex figma firefox
  gemini github gitlab gmail google hubspot icloud ikea imap instagram intercom ipad iphone java javascript jira
  kindle kubernetes lenovo linkedin linux macbook macos mailchimp mastercard microsoft miro monday netflix netsuite
  notion office okta onedrive oracle outlook paypal pinterest playstation postgres powerpoint python quickbooks
  reddit salesforce samsung sap sharepoint shopify skype slack snapchat snowflake spotify sql stripe tableau teams
  telegram tiktok trello trustpilot twitter uber ubuntu ups usps vimeo visa vodafone webex whatsapp wifi wikipedia
  windows wordpress xbox xero yahoo yelp youtube zapier zendesk zoom`.split(/\s+/),
);
